"""Joint torques of a recorded motion under the forces of the ground, and what is left over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from homodyn.capture.kinetics.feet import find_feet
from homodyn.capture.kinetics.foot_paths import foot_paths
from homodyn.capture.kinetics.ground import sample_plates
from homodyn.capture.kinetics.newton_euler import explained
from homodyn.capture.kinetics.plate_doubts import doubts, unmeasured
from homodyn.capture.kinetics.plate_feet import Assignment, assign, spans
from homodyn.capture.kinetics.prediction import described, predicted_forces
from homodyn.capture.kinetics.redistribution import redistributed
from homodyn.capture.kinetics.residuals import residuals
from homodyn.capture.kinetics.smooth_motion import smoothed
from homodyn.errors import CaptureError
from homodyn.motion import ForcePlate
from homodyn.motion.loads import Loads
from homodyn.motion.motion import Motion

CUTOFF = 6.0
"""Hz: the usual low-pass for walking, on coordinates and forces alike."""
LOADED = 20.0
"""N: below this a plate or a foot counts as unloaded."""


def loads(
    motion: Motion,
    plates: Sequence[ForcePlate] = (),
    *,
    cutoff: float | None = CUTOFF,
    force_cutoff: float | Literal["same"] | None = "same",
    feet: Mapping[str, str | None] | None = None,
    residual: Literal["report", "redistribute"] = "report",
    threshold: float = LOADED,
) -> Loads:
    """Generalised forces that explain a motion under what the plates measured.

    Coordinates and plates are low-pass filtered without lag at ``cutoff`` (Hz), the coordinates
    then differentiated by splines; with ``None`` the speeds and accelerations of the motion are
    taken as they are, and the plates too. Filtering both alike keeps impacts from appearing as
    torques (Kristianslund et al. 2012); ``force_cutoff`` gives the plates another.

    Plates stand in our axes, as in ``Trial.plates``, and find their feet by themselves; ``feet``
    tells the body for a plate by name (None leaves the plate out). Without plates the ground
    forces are predicted from the motion. Below ``threshold`` (N) a plate counts as unloaded.

    ``residual="redistribute"`` removes the force and moment left over at the root by the smallest
    weighted change of accelerations and ground forces; see ``redistributed``.
    """
    if residual not in ("report", "redistribute"):
        raise CaptureError(f"residual is {residual!r}; it may be 'report' or 'redistribute'")
    _check(motion)
    forces = cutoff if force_cutoff == "same" else force_cutoff
    moved = motion if cutoff is None else smoothed(motion, cutoff=cutoff)
    found = _ground(moved, plates, forces, dict(feet or {}), threshold)
    result = replace(explained(moved, found.feet), usable=found.usable)
    notes = (*found.notes, residuals(result).sentence) if result.root else found.notes
    how = "speeds and accelerations as given" if cutoff is None else f"low-pass {cutoff:g} Hz"
    told = f"inverse dynamics; coordinates: {how}; {_force_sentence(plates, forces, threshold)}"
    if residual == "redistribute" and result.root:
        result, change = redistributed(result)
        told += "; residuals redistributed"
        notes = (*notes, change.sentence)
    return replace(result, method=told, notes=notes)


def _check(motion: Motion) -> None:
    model, frames = motion.model, len(motion.time)
    if not model.mass > 0:
        raise CaptureError(
            f"model {model.name!r} has no mass, so no force can be found; scale it to the person "
            "with mass=, or give its bodies masses"
        )
    for name, size in (("q", model.nq), ("v", model.nv), ("a", model.nv)):
        values = np.asarray(getattr(motion, name))
        if values.shape != (frames, size):
            raise CaptureError(
                f"{name} of the motion has shape {values.shape}, ({frames}, {size}) is expected"
            )
        broken = ~np.isfinite(values).all(-1)
        if broken.any():
            first = int(np.flatnonzero(broken)[0])
            raise CaptureError(
                f"{name} of the motion is no number in {int(broken.sum())} of {frames} frames, the "
                f"first at {motion.time[first]:.3f} s; fill the gaps or cut the motion"
            )


def _ground(
    motion: Motion,
    plates: Sequence[ForcePlate],
    cutoff: float | None,
    named: dict[str, str | None],
    threshold: float,
) -> Assignment:
    """Forces on the feet, measured or predicted."""
    names = [plate.name for plate in plates]
    for name in named:
        if name not in names:
            known = ", ".join(map(repr, names)) or "none"
            raise CaptureError(f"feet= names a plate {name!r}; the plates are {known}")
    feet = find_feet(motion.model)
    others = [b for b in named.values() if b is not None and b not in [f.body for f in feet]]
    feet += find_feet(motion.model, tuple(dict.fromkeys(others))) if others else ()
    everywhere = np.ones(len(motion.time), dtype=bool)
    floats = bool(motion.model.root)
    if not plates and not floats:
        told = "the model is fixed to the world: no ground force acts, and nothing can be left over"
        return Assignment((), everywhere, (told,))
    if not plates:
        found = predicted_forces(motion)
        return Assignment(found, everywhere, described(motion, found))
    paths = foot_paths(motion, feet)
    sampled = sample_plates(motion, plates, cutoff=cutoff, threshold=threshold)
    assigned = assign(motion, sampled, paths, named)
    if not floats:
        return assigned
    notes = [*assigned.notes, *doubts(motion, assigned.feet, paths)]
    beside = unmeasured(motion, assigned.feet, paths) & assigned.usable
    if beside.any():
        notes.append(
            f"someone stands where no plate measures in {int(beside.sum())} of {len(beside)} "
            f"frames ({spans(motion.time, beside)}); torques are not usable there"
        )
    return Assignment(assigned.feet, assigned.usable & ~beside, tuple(notes))


def _force_sentence(plates: Sequence[ForcePlate], cutoff: float | None, threshold: float) -> str:
    if not plates:
        return "no plates: ground forces predicted from the motion"
    filtered = "not filtered" if cutoff is None else f"low-pass {cutoff:g} Hz"
    return f"plates: {filtered}, interpolated at the frames, nothing below {threshold:g} N"
