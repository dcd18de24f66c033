"""Ready bodies with the sources of their numbers, and the anthropometric tables behind them."""

from homodyn.catalog.anthropometry import SegmentParameters, de_leva
from homodyn.catalog.bip import bip
from homodyn.catalog.center_displacement import displace_centers
from homodyn.catalog.coman import coman
from homodyn.catalog.hdm import hdm
from homodyn.catalog.heiman import CLEARANCES, PLANAR, SUBJECTS, heiman
from homodyn.catalog.heiman_tables import typical_torques, walking_bounds
from homodyn.catalog.human36 import human36
from homodyn.catalog.humans_order import from_humans, to_humans
from homodyn.catalog.khr1 import khr1
from homodyn.catalog.manikin import manikin
from homodyn.catalog.mirror import MirrorMap, mirror, mirror_map
from homodyn.catalog.registry import CatalogEntry, build, describe, description, entries, entry
from homodyn.catalog.scaling import scale
from homodyn.catalog.winter import winter_human

__all__ = [
    "CLEARANCES",
    "PLANAR",
    "SUBJECTS",
    "CatalogEntry",
    "MirrorMap",
    "SegmentParameters",
    "bip",
    "build",
    "coman",
    "de_leva",
    "describe",
    "description",
    "displace_centers",
    "entries",
    "entry",
    "from_humans",
    "hdm",
    "heiman",
    "human36",
    "khr1",
    "manikin",
    "mirror",
    "mirror_map",
    "scale",
    "to_humans",
    "typical_torques",
    "walking_bounds",
    "winter_human",
]
