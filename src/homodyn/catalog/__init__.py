"""Ready bodies with the sources of their numbers, and the anthropometric tables behind them."""

from homodyn.catalog.anthropometry import Segment, de_leva
from homodyn.catalog.heiman import CLEARANCES, PLANAR, SUBJECTS, heiman
from homodyn.catalog.heiman_numbers import typical_torques, walking_bounds
from homodyn.catalog.mirror import Mirror, mirror, mirror_map
from homodyn.catalog.registry import Entry, build, describe, description, entries, entry
from homodyn.catalog.scaling import scaled

__all__ = [
    "CLEARANCES",
    "PLANAR",
    "SUBJECTS",
    "Entry",
    "Mirror",
    "Segment",
    "build",
    "de_leva",
    "describe",
    "description",
    "entries",
    "entry",
    "heiman",
    "mirror",
    "mirror_map",
    "scaled",
    "typical_torques",
    "walking_bounds",
]
