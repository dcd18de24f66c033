"""Balance: wrench sets of supports, stability margins of motions, plans of the center of mass.

The functions of the usual workflow are here; the rest is grouped: ``com_planning``, ``contacts``
(detection and phases), ``criteria`` (ZMP, CMP and other classical criteria), ``polytopes``,
``torque_limits`` and ``wrenches`` (required wrenches, wrench sets and their margins).
"""

from homodyn.balance import com_planning, contacts, criteria, polytopes, torque_limits, wrenches
from homodyn.balance.com_planning import ComPlan, plan_com
from homodyn.balance.contacts import SupportPhase, detect_contacts
from homodyn.balance.evaluation import BalanceEvaluation, evaluate
from homodyn.balance.motion_margins import margins
from homodyn.balance.scene_phases import scene_phases, scene_stances, scene_wrench
from homodyn.balance.stance import Stance
from homodyn.balance.support_areas import (
    static_equilibrium_polygon,
    support_polygon,
    zmp_support_area,
)
from homodyn.balance.wrenches import WrenchSet, limiting_contacts, wrench_margins, wrench_set
from homodyn.motion import Scene, load_scene
from homodyn.motion.supports import ContactPatch, Grasp, point_contact, sole_contact

__all__ = [
    "BalanceEvaluation",
    "ComPlan",
    "ContactPatch",
    "Grasp",
    "Scene",
    "Stance",
    "SupportPhase",
    "WrenchSet",
    "com_planning",
    "contacts",
    "criteria",
    "detect_contacts",
    "evaluate",
    "limiting_contacts",
    "load_scene",
    "margins",
    "plan_com",
    "point_contact",
    "polytopes",
    "scene_phases",
    "scene_stances",
    "scene_wrench",
    "sole_contact",
    "static_equilibrium_polygon",
    "support_polygon",
    "torque_limits",
    "wrench_margins",
    "wrench_set",
    "wrenches",
    "zmp_support_area",
]
