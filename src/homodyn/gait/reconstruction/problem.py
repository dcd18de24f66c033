"""The problem of a recorded step: track what was recorded, obey what must be obeyed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from homodyn.dynamics import constraint_jacobian, inverse_dynamics, position
from homodyn.errors import CaptureError, HomodynError
from homodyn.foundation.text import unknown_name
from homodyn.gait.contact_schedule import LIFTED, SIDES, Footing, footings
from homodyn.gait.reconstruction.felis2015 import (
    is_thesis_step,
    stage_conditions,
    stance_side,
    thesis_bounds,
    torque_scale,
)
from homodyn.model import Model
from homodyn.motion import (
    ContactForce,
    Event,
    Loads,
    Motion,
)
from homodyn.optimal.conditions import Condition, friction_cone, height, unilateral
from homodyn.optimal.instant import Instant
from homodyn.optimal.phase import Phase, Transition
from homodyn.optimal.problem import Problem
from homodyn.optimal.terms import Term, contact_force, torque, track, track_coordinates, track_force
from homodyn.spatial import Array

SETTLING = 1e-6
"""Weight of squared contact forces, where many would do."""
LEVER = 0.1
"""m: an error of the moment of a foot counts as one of its force at this distance."""
BEYOND = 0.05
"""rad, m: how far bounds leave room around a recording that passes them."""
FEWEST = 3
"""Intervals of a phase, at least."""


@dataclass(frozen=True)
class Recipe:
    """How the recording, the effort and the rules of a step are weighed against each other."""

    lag: float
    """s: an error of speed or acceleration that it takes this long to build up counts as much as
    one of position; 0 tracks positions alone."""
    effort: float
    """Weight of squared torques, in parts of typical ones, beside squared coordinates."""
    tables: bool
    """Whether positions and torques keep to the bounds of Felis (2015), tables 5.1 and 5.2."""
    clear: bool
    """Whether points that swing stay above the ground, and those of his list unload and fall."""
    touchdown: Transition
    shift: float = 0.0
    """Weight of squared rates of contact forces (parts of the weight per second) where none are
    tracked: two feet shift the body smoothly from one to the other."""


RECIPES: Mapping[str, Recipe] = {
    "close": Recipe(0.1, 1e-8, tables=False, clear=False, touchdown="continuous", shift=1e-6),
    "step": Recipe(0.1, 1e-8, tables=True, clear=True, touchdown="impact", shift=1e-6),
    "thesis": Recipe(0.0, 1e-2, tables=True, clear=True, touchdown="impact"),
}
"""``thesis`` is the problem of Felis (2015), section 5.3, with its stages, bounds and impacts, and
its strong weight of the effort. ``step`` has all of it but the weights: it stays near speeds and
accelerations too, and effort decides only what they leave open, so torques come out as they were.
``close`` has those weights alone, for movements that are no such step."""


def reconstruction_problem(
    motion: Motion,
    *,
    measured: Loads | None = None,
    phases: Sequence[Footing] | None = None,
    events: Sequence[Event] | None = None,
    span: tuple[float, float] | None = None,
    step: float = 0.02,
    intervals: Sequence[int] | None = None,
    recipe: str = "close",
    effort: float | None = None,
    lag: float | None = None,
    force: float = 1.0,
    friction: float | None = None,
    touchdown: Transition | None = None,
    lifted: float = LIFTED,
) -> tuple[Problem, tuple[Footing, ...]]:
    """The problem behind `reconstruct`, to be looked at or changed."""
    if recipe not in RECIPES:
        raise HomodynError(f"there is {unknown_name('recipe', recipe, RECIPES)}")
    chosen = RECIPES[recipe]
    lag = chosen.lag if lag is None else lag
    effort = chosen.effort if effort is None else effort
    touchdown = touchdown or chosen.touchdown
    model = motion.model
    found = phases or footings(motion, span=span, events=events, lifted=lifted)
    stands = tuple(_checked(found, motion))
    counts = _counts(stands, step, intervals)
    splines = curves(motion)
    made = []
    for k, (footing, count) in enumerate(zip(stands, counts, strict=True)):
        lasting = footing.end - footing.begin
        at = {key: Stretch(curve, footing.begin, lasting) for key, curve in splines.items()}
        terms: list[Term] = [
            1.0 * track_coordinates(at["q"]),
            effort * torque(torque_scale(model)),
            SETTLING * contact_force(),
        ]
        if lag > 0:
            terms += [
                lag**2 * track("velocities", lambda i: i.v, at["v"]),
                lag**4 * track("accelerations", lambda i: i.a, at["a"]),
            ]
        followed = []
        if measured is not None and force > 0:
            followed = _force_terms(measured, footing, lasting, force)
        if chosen.shift > 0 and not followed:
            followed = [chosen.shift * contact_force().at("change")]
        terms += followed
        conditions = _conditions(stands, k, chosen.clear)
        if friction is not None:
            conditions.append(friction_cone(friction, *footing.points))
        after = stands[k + 1] if k + 1 < len(stands) else None
        touching = after is not None and not set(after.points) <= set(footing.points)
        made.append(
            Phase(
                f"{k + 1} {footing.name}",
                lasting,
                footing.contacts,
                terms,
                conditions,
                count,
                bounds=_bounds(model, at["q"], stance_side(stands), tables=chosen.tables),
                guess=_guess(model, footing, at, count),
                then=touchdown if touching else "continuous",
            )
        )
    return Problem(model, made), stands


def _checked(found: Sequence[Footing], motion: Motion) -> Sequence[Footing]:
    begin, end = float(motion.time[0]), float(motion.time[-1])
    for k, footing in enumerate(found):
        if not begin - 1e-9 <= footing.begin < footing.end <= end + 1e-9:
            raise CaptureError(
                f"phase {k + 1} ({footing.name}) lasts from {footing.begin:.3f} to "
                f"{footing.end:.3f} s, the motion from {begin:.3f} to {end:.3f} s"
            )
        if k and abs(footing.begin - found[k - 1].end) > 1e-6:
            raise CaptureError(
                f"phase {k + 1} ({footing.name}) begins at {footing.begin:.4f} s, but the one "
                f"before ends at {found[k - 1].end:.4f} s"
            )
    return found


def _counts(stands: Sequence[Footing], step: float, given: Sequence[int] | None) -> list[int]:
    if given is None:
        if not step > 0:
            raise HomodynError(f"step is {step:g} s; expected a time above 0")
        return [max(FEWEST, round((f.end - f.begin) / step)) for f in stands]
    if len(given) != len(stands):
        names = ", ".join(f.name for f in stands)
        raise HomodynError(f"{len(given)} numbers of intervals for {len(stands)} phases: {names}")
    return list(given)


def _conditions(stands: Sequence[Footing], k: int, clear: bool) -> list[Condition]:
    if clear and is_thesis_step(stands):
        return stage_conditions(k, stance_side(stands))
    conditions = [unilateral(*stands[k].points)]
    swinging = [name for name in stands[k].clear() if not name.startswith("Meta5")]
    # Points that stand before or after are on the ground at a boundary, and rise in between.
    if clear and swinging:
        conditions.append(height(*swinging).at("inside"))
    return conditions


def curves(motion: Motion) -> dict[str, CubicSpline]:
    """Curves through the frames of a recording: positions, velocities, accelerations.

    Felis 2015, section 5.3, lays Catmull-Rom splines through the positions and takes velocities
    from them; these have continuous accelerations too.
    """
    return {key: CubicSpline(motion.time, getattr(motion, key)) for key in ("q", "v", "a")}


@dataclass(frozen=True, eq=False)
class Stretch:
    """A curve over a stretch of time, as a function of the part of it that has passed."""

    curve: CubicSpline
    begin: float
    lasting: float

    def __call__(self, fractions: np.ndarray) -> np.ndarray:
        """Values at parts of the stretch (0 to 1)."""
        return self.curve(self.begin + self.lasting * fractions)


def _bounds(model: Model, q: Stretch, stance: str, *, tables: bool) -> dict[str, Any]:
    """Limits of the tables or of the model, widened where the recording passes them."""
    seen = q(np.linspace(0, 1, 50))
    limits = {}
    told = thesis_bounds(model, "reconstruction", stance) if tables else {}
    names = zip(model.coordinate_names, model.position_index, strict=True)
    for k, (name, place) in enumerate(names):
        if place is not None:
            lowest, highest = told.get(name, (float(model.lower[k]), float(model.upper[k])))
            low = min(lowest, float(seen[:, place].min()) - BEYOND)
            high = max(highest, float(seen[:, place].max()) + BEYOND)
            limits[name] = (low, high)
    torques = thesis_bounds(model, "torque", stance) if tables else {}
    return {"q": limits, "tau": torques or (-np.inf, np.inf)}


def _guess(
    model: Model, footing: Footing, at: dict[str, Stretch], intervals: int
) -> dict[str, Any]:
    """The recording itself, with the least contact forces that hold its root."""
    middles = (np.arange(intervals) + 0.5) / intervals
    q, v, a = (at[key](middles) for key in ("q", "v", "a"))
    needed = np.asarray(inverse_dynamics(model, q, v, a))
    G = np.asarray(constraint_jacobian(model, q, footing.contacts))
    root = list(model.root.v)
    A = np.swapaxes(G[:, :, root], 1, 2)
    normal = np.swapaxes(A, 1, 2) @ A + SETTLING * np.eye(G.shape[1])
    forces = np.linalg.solve(normal, np.swapaxes(A, 1, 2) @ needed[:, root, None])[:, :, 0]
    tau = needed - np.einsum("kij,ki->kj", G, forces)
    guess = {key: at[key] for key in ("q", "v", "a")}
    return guess | {"force": _Samples(middles, forces), "tau": _Samples(middles, tau)}


@dataclass(frozen=True, eq=False)
class _Samples:
    """Values between known ones, by parts of a phase."""

    known: np.ndarray
    values: np.ndarray

    def __call__(self, fractions: np.ndarray) -> np.ndarray:
        return np.column_stack([np.interp(fractions, self.known, c) for c in self.values.T])


def _force_terms(measured: Loads, footing: Footing, lasting: float, weight: float) -> list[Term]:
    """Stay near the measured wrenches of the feet that stand, forces in parts of the weight."""
    model = measured.motion.model
    heavy = model.mass * float(np.linalg.norm(np.asarray(model.gravity, dtype=float)))
    usable = measured.usable if len(measured.usable) else np.ones(len(measured.tau), dtype=bool)
    time = measured.motion.time
    inside = (time >= footing.begin) & (time <= footing.end)
    if not usable[inside].all():
        return []
    terms = []
    for foot in measured.feet:
        side = next((s for s in SIDES if foot.side == s.lower()), None)
        points = [name for name in footing.points if side and name.endswith(side)]
        if not points or foot.predicted:
            continue
        force = Stretch(CubicSpline(time, foot.force), footing.begin, lasting)
        terms.append(weight * track_force(force, *points, scale=1 / heavy**2))
        moment = _moment(measured, foot)
        if np.isfinite(moment[inside]).all():
            curve = CubicSpline(time, np.nan_to_num(moment))
            terms.append(
                weight
                * track(
                    f"moment {foot.body}",
                    _GroundMoment(foot.body),
                    Stretch(curve, footing.begin, lasting),
                    scale=1 / (LEVER * heavy) ** 2,
                )
            )
    return terms


@dataclass(frozen=True)
class _GroundMoment:
    """The moment of the ground on a foot, of any instant."""

    body: str

    def __call__(self, instant: Instant) -> Array:
        return instant.ground_moment(self.body)


def _moment(measured: Loads, foot: ContactForce) -> np.ndarray:
    """(frames, 3), N m: of the ground about the origin of the foot."""
    origin = np.asarray(position(measured.motion.model, measured.motion.q, foot.body))
    unloaded = np.abs(foot.force).max(axis=1) == 0
    point = np.where(unloaded[:, None], origin, foot.point)
    return np.cross(point - origin, foot.force) + foot.torque
