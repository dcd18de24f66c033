"""Ready bodies with the sources of their numbers, and the anthropometric tables behind them."""

from homodyn.catalog.coman import coman
from homodyn.catalog.hdm import hdm
from homodyn.catalog.heiman import CLEARANCES, PLANAR, SUBJECTS, heiman
from homodyn.catalog.human36 import human36
from homodyn.catalog.manikin import manikin
from homodyn.catalog.mirror import Mirror, mirror, mirror_map
from homodyn.catalog.registry import Entry, build, describe, entries, entry
from homodyn.catalog.winter import winter_human

__all__ = [
    "CLEARANCES",
    "PLANAR",
    "SUBJECTS",
    "Entry",
    "Mirror",
    "build",
    "coman",
    "describe",
    "entries",
    "entry",
    "hdm",
    "heiman",
    "human36",
    "manikin",
    "mirror",
    "mirror_map",
    "winter_human",
]
