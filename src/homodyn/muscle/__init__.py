"""Muscles: paths over wrap objects, their lengths, lengthening speeds and moment arms."""

from homodyn.muscle.paths import lengthening_speeds, lengths, moment_arms

__all__ = ["lengthening_speeds", "lengths", "moment_arms"]
