"""Ready bodies with the sources of their numbers, and the anthropometric tables behind them."""

from homodyn.catalog.heiman import CLEARANCES, PLANAR, SUBJECTS, heiman
from homodyn.catalog.mirror import Mirror, mirror, mirror_map
from homodyn.catalog.registry import Entry, build, describe, entries, entry

__all__ = [
    "CLEARANCES",
    "PLANAR",
    "SUBJECTS",
    "Entry",
    "Mirror",
    "build",
    "describe",
    "entries",
    "entry",
    "heiman",
    "mirror",
    "mirror_map",
]
