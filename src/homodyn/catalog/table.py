"""The numbers of the bodies, kept as text beside the code with the sources they come from."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from math import radians
from typing import Any


@cache
def table(name: str) -> dict[str, Any]:
    """The content of ``tables/<name>.toml``; shared, so it is only to be read."""
    text = files("homodyn.catalog").joinpath("tables", f"{name}.toml").read_text("utf-8")
    return tomllib.loads(text)


def motion_range(movement: str) -> tuple[float, float]:
    """Least and most (rad) of a movement of ``range_of_motion.toml``, such as ``"hip.flexion"``.

    With a minus in front it is the range of a coordinate that counts the movement backwards.
    """
    joint, _, what = movement.removeprefix("-").partition(".")
    least, most = (radians(angle) for angle in table("range_of_motion")[joint][what])
    return (-most, -least) if movement.startswith("-") else (least, most)


def motion_ranges(*movements: str) -> dict[str, tuple[float, ...]]:
    """The ranges of several movements, as the ``lower`` and ``upper`` that a joint takes."""
    lower, upper = zip(*(motion_range(movement) for movement in movements), strict=True)
    return {"lower": lower, "upper": upper}
