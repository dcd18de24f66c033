"""The wrapping function of each kind of wrap object."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import casadi as ca

from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model.muscles import WRAP_KINDS, WrapObject
from homodyn.muscle.geometry.cylinder import crossing_status, cylinder_wrap
from homodyn.muscle.geometry.ellipsoid import ELLIPSOID_METHODS, ellipsoid_wrap
from homodyn.muscle.geometry.path_nodes import PathFrames, SegmentEnd
from homodyn.muscle.geometry.sphere import sphere_wrap
from homodyn.muscle.geometry.surface_contact import NO_CONTACT, SurfaceContact
from homodyn.muscle.geometry.torus import torus_wrap
from homodyn.spatial import Array

QUADRANT_AXES = {
    sign + axis: ("xyz".index(axis), -1 if sign == "-" else 1)
    for axis in "xyz"
    for sign in ("", "+", "-")
}
"""Axis and sign of each quadrant."""

SegmentWrap = Callable[[PathFrames, WrapObject, SegmentEnd, SegmentEnd], SurfaceContact]


def quadrant_axis(wrap: WrapObject) -> tuple[int, int] | None:
    """Axis (0, 1, 2) and sign of the side that paths wrap around; None: any side.

    Args:
        wrap: The wrap object.

    Raises:
        ModelError: The object has an unknown quadrant.
    """
    quadrant = wrap.quadrant.strip().lower()
    if quadrant in ("all", "unassigned", ""):
        return None
    if quadrant not in QUADRANT_AXES:
        reason = unknown_name("quadrant", wrap.quadrant, ("all", *QUADRANT_AXES))
        raise ModelError(f"wrap {wrap.name!r}: {reason}")
    return QUADRANT_AXES[quadrant]


def surface_wrap(wrap: WrapObject, method: str, rule: str, alone: bool) -> SegmentWrap:
    """The function that wraps a segment between two world points over an object.

    Args:
        wrap: The object.
        method: Method of the path for ellipsoids.
        rule: A rule of ``TANGENT_RULES``.
        alone: Whether the path has no other wrap object.

    Returns:
        A function of the frames, the object and both ends; tangent points are in the world.

    Raises:
        ModelError: The object has an unknown kind or quadrant.
    """
    side = quadrant_axis(wrap)
    if wrap.kind == "cylinder":
        return _in_world(cylinder_wrap(side, rule, alone))
    if wrap.kind == "sphere":
        return _in_world(sphere_wrap(side))
    if wrap.kind == "ellipsoid":
        if method not in ELLIPSOID_METHODS:
            raise ModelError(
                f"wrap {wrap.name!r}: {unknown_name('method', method, ELLIPSOID_METHODS)}"
            )
        return _in_world(ellipsoid_wrap(side, method, rule))
    if wrap.kind == "torus":
        return _in_world(torus_wrap(side, rule, alone))
    raise ModelError(f"wrap {wrap.name!r}: {unknown_name('kind', wrap.kind, WRAP_KINDS)}")


def takes_first_crossing(wrap: WrapObject) -> bool:
    """Whether a path wraps around an object with the first segment that crosses it, and only so.

    Args:
        wrap: The object.
    """
    return wrap.kind == "cylinder" and quadrant_axis(wrap) is None


def crosses_cylinder(frames: PathFrames, wrap: WrapObject, p: SegmentEnd, r: SegmentEnd) -> Array:
    """Whether the segment between two world points crosses a cylinder without ends.

    Args:
        frames: The tree.
        wrap: The cylinder.
        p: One end, (3,), m.
        r: The other end, (3,), m.
    """
    size = ca.SX(ca.vertcat(*wrap.dimensions))
    return crossing_status(frames.to_wrap(wrap, p), frames.to_wrap(wrap, r), size) != NO_CONTACT


@lru_cache(maxsize=256)
def _in_world(function: Callable[..., Array]) -> SegmentWrap:
    def wrap(
        frames: PathFrames, surface: WrapObject, p: SegmentEnd, r: SegmentEnd
    ) -> SurfaceContact:
        placement = frames.wrap_placement(surface)
        size = ca.vertcat(*surface.dimensions)
        local = [frames.to_wrap(surface, end) for end in (p, r)]
        found = SurfaceContact.from_column(function(*local, ca.SX(size)))
        start, end = (placement.point_back(point) for point in (found.start, found.end))
        return SurfaceContact(found.status, start, end, found.length)

    return wrap
