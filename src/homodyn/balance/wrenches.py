"""Wrenches: what motions require, what supports can give, and the distances between them."""

from homodyn.balance.failure_modes import FailureMode, LimitingContact, limiting_contacts
from homodyn.balance.required_wrench import (
    RequiredWrench,
    measured_wrench,
    point_mass_wrench,
    whole_body_wrench,
)
from homodyn.balance.stability_margins import (
    TransitionDifficulty,
    WrenchMargins,
    facet_distances,
    transition_difficulty,
    wrench_margins,
)
from homodyn.balance.stance import ContactForceSet, SupportForce
from homodyn.balance.wrench_polytope import WrenchSet, WrenchSetCertificate, wrench_set

__all__ = [
    "ContactForceSet",
    "FailureMode",
    "LimitingContact",
    "RequiredWrench",
    "SupportForce",
    "TransitionDifficulty",
    "WrenchMargins",
    "WrenchSet",
    "WrenchSetCertificate",
    "facet_distances",
    "limiting_contacts",
    "measured_wrench",
    "point_mass_wrench",
    "transition_difficulty",
    "whole_body_wrench",
    "wrench_margins",
    "wrench_set",
]
