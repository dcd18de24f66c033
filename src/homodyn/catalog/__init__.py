"""Ready bodies with the sources of their numbers, and the anthropometric tables behind them."""

from homodyn.catalog.human36 import human36
from homodyn.catalog.registry import Entry, build, describe, entries, entry

__all__ = ["Entry", "build", "describe", "entries", "entry", "human36"]
