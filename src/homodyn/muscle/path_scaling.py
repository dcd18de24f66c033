"""Muscles of scaled models: fiber and tendon lengths, and paths that flip by scaling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from homodyn.catalog import displace_centers, scale
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.model import Model, parametric
from homodyn.muscle.geometry.tangent_rule import OPENSIM
from homodyn.muscle.paths import lengths
from homodyn.spatial import Array, ArrayInput, is_symbolic

SCALING_STEPS = 20
"""Steps from the generic to the scaled model in which jumps are searched."""
JUMP_BISECTIONS = 16
"""Halvings of a step; a jump stays, a steep change becomes small."""
JUMP_TOLERANCE_M = 1e-3
"""Smallest jump of a length that is reported."""


@record
class ScalingJump(Record):
    """A muscle whose path jumps while the model is scaled.

    It flips to another side of a wrap object, or a point of it enters one.
    """

    muscle: str
    state: int
    """Index of the state in which it jumps."""
    share: float
    """How much of the scaling is applied there, from 0 to 1."""
    change_m: float
    """Change of the length at the jump."""

    def headline(self) -> str:
        """Muscle, place and size of the jump."""
        return (
            f"the path of {self.muscle!r} jumps by {1e3 * self.change_m:+.1f} mm at "
            f"{self.share:.0%} of the scaling (state {self.state}): it flips to another side of a "
            "wrap object, or a point enters one"
        )


def scale_fibers(generic: Model, scaled: Model, *, wrapping: str = OPENSIM) -> Model:
    """The scaled model with fiber and tendon lengths in proportion to the paths.

    Optimal fiber length and tendon slack length of the generic model are multiplied by the ratio of
    the lengths of the path, over its wrap objects, in the neutral poses, as OpenSim does.
    `homodyn.catalog.scale` takes straight lines between the points instead.

    Args:
        generic: The model before scaling.
        scaled: The same model scaled; its numbers may depend on parameters.
        wrapping: ``"opensim"`` or ``"geodesic"``; see `homodyn.muscle.lengths`.

    Returns:
        A new model; the scaled model itself if it has no muscles.

    Raises:
        ModelError: The models have different muscles, or a path of the generic model has no length.
    """
    names = [muscle.name for muscle in generic.muscles]
    if names != [muscle.name for muscle in scaled.muscles]:
        raise ModelError(
            f"models {generic.name!r} and {scaled.name!r} have different muscles; scale_fibers "
            "takes a model and the same model scaled"
        )
    if not names:
        return scaled
    ratios = _neutral_lengths(scaled, wrapping) / _neutral_lengths(generic, wrapping)
    muscles = []
    for k, (before, after) in enumerate(zip(generic.muscles, scaled.muscles, strict=True)):
        ratio = ratios[k]
        if not is_symbolic(ratio) and not np.isfinite(ratio):
            raise ModelError(
                f"the path of muscle {before.name!r} has no length in the neutral pose, so its "
                "fibers cannot be scaled; correct its points"
            )
        muscles.append(
            replace(
                after,
                optimal_fiber_length=before.optimal_fiber_length * ratio,
                tendon_slack_length=before.tendon_slack_length * ratio,
            )
        )
    return replace(scaled, muscles=tuple(muscles))


def find_scaling_jumps(
    model: Model,
    factors: Mapping[str, Sequence[float]],
    q: ArrayInput | None = None,
    *,
    centers: Mapping[str, Sequence[float]] | None = None,
    wrapping: str = OPENSIM,
    tolerance_m: float = JUMP_TOLERANCE_M,
) -> tuple[ScalingJump, ...]:
    """Muscle paths that flip to another side of a wrap object when a model is scaled.

    Scaling moves points and surfaces continuously, so lengths change continuously too, unless a
    point enters a surface or the path changes sides.

    Args:
        model: The generic model, without parameters.
        factors: Factors for x, y and z of the frames of bodies, as in `homodyn.catalog.scale`.
        q: States in which lengths are compared, (states, nq); the neutral pose by default.
        centers: Displacements of joint centers (m) by joint, as in
            `homodyn.catalog.displace_centers`.
        wrapping: ``"opensim"`` or ``"geodesic"``; see `homodyn.muscle.lengths`.
        tolerance_m: Smallest jump that counts.

    Returns:
        The largest jump of each muscle that has one, in the order of the muscles.

    Raises:
        ModelError: The model has no muscles, a body or joint is unknown, or a factor is not
            positive.
    """
    states = np.atleast_2d(model.neutral() if q is None else np.asarray(q, dtype=float))

    def build(share: Array) -> Model:
        part = scale(model, {b: [1 + (f - 1) * share for f in xyz] for b, xyz in factors.items()})
        moved = {joint: share * ca.DM(list(xyz)) for joint, xyz in (centers or {}).items()}
        return displace_centers(part, moved, model)

    scale(model, factors)  # refuses invalid factors by name
    growing = parametric(build, share=0.0)

    def at(rows: np.ndarray, shares: np.ndarray) -> np.ndarray:
        found: np.ndarray = lengths(growing, rows, wrapping, parameters=shares[:, None])
        return found

    shares = np.linspace(0.0, 1.0, SCALING_STEPS + 1)
    grid = np.array([at(states, np.full(len(states), share)) for share in shares])
    steps = np.diff(grid, axis=0)
    usual = np.median(steps, axis=0)
    unusual = np.abs(steps - usual) > tolerance_m
    found: dict[int, ScalingJump] = {}
    for step, state, muscle in np.argwhere(unusual):
        low, high = shares[step], shares[step + 1]
        ends = [grid[step, state, muscle], grid[step + 1, state, muscle]]
        half = usual[state, muscle]
        for _ in range(JUMP_BISECTIONS):
            middle, half = (low + high) / 2, half / 2
            value = float(at(states[state : state + 1], np.array([middle]))[0, muscle])
            if abs(value - ends[0] - half) > abs(ends[1] - value - half):
                high, ends[1] = middle, value
            else:
                low, ends[0] = middle, value
        change = float(ends[1] - ends[0])
        known = found.get(muscle)
        if abs(change) > tolerance_m and (known is None or abs(change) > abs(known.change_m)):
            name = model.muscles[muscle].name
            found[muscle] = ScalingJump(name, int(state), float(high), change)
    return tuple(found[k] for k in sorted(found))


def _neutral_lengths(model: Model, wrapping: str) -> Array:
    """Lengths of all muscles in the neutral pose; expressions if the model has parameters."""
    if not model.parameters:
        return lengths(model, model.neutral(), wrapping)
    return lengths(model, model.neutral(), wrapping, parameters=model.parameter_symbols)
