"""Mirror images of poses: left and right exchanged by the reflection of Y.

Bodies are paired by name, and each coordinate corresponds to that of the paired joint. Its sign
follows from the geometry: the reflection M = diag(1, -1, 1) maps a translation along ``a`` to one
along ``M a`` and a rotation about ``a`` to one about ``-M a``. This holds for all poses if it holds
for the pose q = 0, because the motions of a chain are screws that are fixed in that pose. Bodies
are compared there and in some other poses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import casadi as ca
import numpy as np

from homodyn.catalog.standing_height import placements
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.model import Joint, Model
from homodyn.model.joint import AXES
from homodyn.spatial import Array, Transform

REFLECTION = np.diag([1.0, -1.0, 1.0])
MAX_ASYMMETRY_M = 1e-6
"""Largest distance of a body from its mirror image."""
MAX_PARALLEL_ERROR = 1e-6
"""Largest deviation of the cosine of parallel axes from one."""

_WORDS = (("Right", "Left"), ("right", "left"), ("RIGHT", "LEFT"))
_LETTERS = {"R": "L", "L": "R", "r": "l", "l": "r"}
_LETTER_ALONE = re.compile(r"(?<![A-Za-z])[RrLl](?![a-z])")


@record(eq=True)
class MirrorMap(Record):
    """The exchange of left and right: ``mirrored = sign * original[index]``.

    Applied twice it is the identity.
    """

    q_index: tuple[int, ...]
    q_sign: tuple[float, ...]
    v_index: tuple[int, ...]
    v_sign: tuple[float, ...]
    names: Mapping[str, str]
    """Names of the paired bodies, joints, coordinates, markers, frames, contacts and capsules."""

    def position(self, q: Array) -> Array:
        """The mirror image of positions, (..., nq), or of a column of symbols."""
        return _exchange_sides(q, self.q_index, self.q_sign)

    def velocity(self, v: Array) -> Array:
        """The mirror image of velocities, accelerations or generalized forces, (..., nv)."""
        return _exchange_sides(v, self.v_index, self.v_sign)


def mirror(model: Model, q: Array) -> Array:
    """The mirror image of a pose: left and right exchanged by the reflection of Y.

    Args:
        model: A model with symmetric left and right sides.
        q: Positions, shape (..., nq), or a column of nq symbols.

    Returns:
        Positions of the mirrored pose, of the shape of ``q``.

    Raises:
        ModelError: The model is not symmetric.
    """
    return mirror_map(model).position(q)


@lru_cache(maxsize=64)
def mirror_map(model: Model, *, tolerance: float = MAX_ASYMMETRY_M) -> MirrorMap:
    """The exchange of left and right of a model: which entries of q and v swap, with which signs.

    Bodies are paired by name; the signs follow from the geometry. A model with parameters is
    compared at their nominal values.

    Args:
        model: The model.
        tolerance: Largest deviation (m) of joints and centers of mass from their mirror image.
            Increase it for a person with legs of different lengths, whose angles still mirror.

    Returns:
        The map for positions, for velocities or generalized forces, and for names.

    Raises:
        ModelError: The sides differ in their tree, their joint types or axes, or by more than
            ``tolerance``.
    """
    if model.parameters:
        return mirror_map(model.at(model.parameter_values), tolerance=tolerance)
    names = paired_names(model)
    index = {name: i for i, name in enumerate(model.body_names)}
    partner = [index[names[name]] for name in model.body_names]
    for i, j in enumerate(partner):
        _check_axes(model.joints[i], model.joints[j])
        if model.parents[j] != (partner[model.parents[i]] if model.parents[i] >= 0 else -1):
            raise ModelError(
                f"the parents of {model.body_names[i]!r} and {model.body_names[j]!r} are not "
                f"mirror images of each other"
            )
    at = [frame for frame, _ in placements(model, _zero(model))]
    q_index, q_sign = np.arange(model.nq), np.ones(model.nq)
    v_index, v_sign = np.arange(model.nv), np.ones(model.nv)
    place = model.joint_slots
    following = {coupler.coordinate for coupler in model.couplers}
    for i, j in enumerate(partner):
        signs = _signs(model.joints[i], at[i], model.joints[j], at[j])
        own = [
            s
            for s, c in zip(signs, model.joints[i].coordinates, strict=True)
            if c.name not in following
        ]
        v_index[place[j].v] = np.arange(model.nv)[place[i].v]
        v_sign[place[j].v] = own
        q_index[place[j].q] = np.arange(model.nq)[place[i].q]
        # A quaternion is (w, x, y, z): its scalar part has no sign to change.
        plain = len(own) - 3 if model.joints[i].quaternion else len(own)
        scalar = [1.0] if model.joints[i].quaternion else []
        q_sign[place[j].q] = [*own[:plain], *scalar, *own[plain:]]
    for i, j in enumerate(partner):
        names[model.joint_names[i]] = model.joint_names[j]
    for k, coordinate in enumerate(model.coordinate_names):
        names[coordinate] = model.coordinate_names[v_index[k]]
    mirrored = MirrorMap(
        tuple(q_index.tolist()),
        tuple(q_sign.tolist()),
        tuple(v_index.tolist()),
        tuple(v_sign.tolist()),
        names,
    )
    _check_symmetry(model, mirrored, partner, tolerance)
    return mirrored


def paired_names(model: Model) -> dict[str, str]:
    """Name of the mirror image of every body, frame, marker, contact and capsule."""
    groups: list[Sequence[str]] = [model.body_names]
    for part in ("frames", "markers", "contacts", "capsules"):
        groups.append([one.name for one in getattr(model, part)])
    pairs: dict[str, str] = {}
    for group in groups:
        pairs |= _pairs(group)
    return pairs


def mirrored_entries(names: Sequence[str]) -> list[int]:
    """For each name the position of the name of the other side, or its own where there is none.

    Args:
        names: Names of the same kind, such as those of muscles.
    """
    pairs = _pairs(names)
    return [list(names).index(pairs[name]) for name in names]


def _pairs(group: Sequence[str]) -> dict[str, str]:
    found = {
        name: next((other for other in _other_side(name) if other in group), name) for name in group
    }
    return {name: other if found[other] == name else name for name, other in found.items()}


def _other_side(name: str) -> Iterator[str]:
    """Possible names on the other side, the most likely first."""
    for one, two in _WORDS:
        for here, there in ((one, two), (two, one)):
            if here in name:
                yield name.replace(here, there)
    for alone in _LETTER_ALONE.finditer(name):
        yield name[: alone.start()] + _LETTERS[alone.group()] + name[alone.end() :]
    if name[0] in _LETTERS:
        yield _LETTERS[name[0]] + name[1:]
    if name[-1] in _LETTERS:
        yield name[:-1] + _LETTERS[name[-1]]


def _check_axes(one: Joint, two: Joint) -> None:
    def form(joint: Joint) -> list[tuple[str, int | None]]:
        return [(axis.kind, axis.coordinate) for axis in joint.axes]

    if one.kind != two.kind or form(one) != form(two):
        raise ModelError(
            f"joints {one.name!r} and {two.name!r} are not mirror images: their axes differ in kind"
        )


def _signs(one: Joint, at_one: Transform, two: Joint, at_two: Transform) -> list[float]:
    """For each coordinate the sign of the paired coordinate on the other side."""
    if one.quaternion:
        slides = [("slide", np.array(AXES[a])) for a in "xyz"] if one.kind == "free" else []
        axes = [*slides, *(("turn", np.array(AXES[a])) for a in "xyz")]
        pairs = [(kind, axis, axis) for kind, axis in axes]
    else:
        pairs = []
        for k in range(one.nv):
            n = next(n for n, axis in enumerate(one.axes) if axis.coordinate == k)
            pairs.append((one.axes[n].kind, one.axes[n].axis, two.axes[n].axis))
    signs = []
    for k, (kind, axis, other) in enumerate(pairs):
        image = REFLECTION @ at_one.E.T @ axis * (-1.0 if kind == "turn" else 1.0)
        along = float(image @ at_two.E.T @ other)
        if abs(abs(along) - 1.0) > MAX_PARALLEL_ERROR:
            raise ModelError(
                f"joint {two.name!r}: the axis of {two.coordinates[k].name!r} is not the mirror "
                f"image of that of {one.coordinates[k].name!r} in the pose q = 0"
            )
        signs.append(float(np.sign(along)))
    return signs


def _check_symmetry(
    model: Model, mirrored: MirrorMap, partner: list[int], tolerance: float
) -> None:
    """Refuse a map under which a body is not at its mirror image.

    Raises:
        ModelError: A body is farther than ``tolerance`` (m) from its mirror image.
    """
    poses = [_zero(model), *model.random(0, 2)]
    for q in poses:
        here, there = placements(model, q), placements(model, mirrored.position(q))
        for i, j in enumerate(partner):
            for point, image in (
                (here[i][0].r, there[j][0].r),
                (
                    here[i][1].point_back(model.bodies[i].com),
                    there[j][1].point_back(model.bodies[j].com),
                ),
            ):
                error = float(np.abs(REFLECTION @ point - image).max())
                if error > tolerance:
                    one, two = model.body_names[i], model.body_names[j]
                    raise ModelError(
                        f"model {model.name!r} is not symmetric: {two!r} is {error:.3g} m from the "
                        f"mirror image of {one!r}; a larger tolerance accepts it"
                    )


def _zero(model: Model) -> np.ndarray:
    """The pose in which all coordinates are zero and all quaternions the identity."""
    q = np.zeros(model.nq)
    for joint, place in zip(model.joints, model.joint_slots, strict=True):
        if joint.quaternion:
            q[place.q.stop - 4] = 1.0
    return q


def _exchange_sides(values: Array, index: tuple[int, ...], sign: tuple[float, ...]) -> Array:
    if isinstance(values, (ca.SX, ca.MX, ca.DM)):
        return values[list(index)] * ca.DM(sign)
    return np.asarray(values)[..., list(index)] * np.array(sign)
