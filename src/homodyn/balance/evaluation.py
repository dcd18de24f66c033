"""A motion judged: margins over time, the weakest instant, and what gives way there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from homodyn.balance.criteria import Verdicts, foot_inertia, verdicts
from homodyn.balance.demand import Demand, whole_body
from homodyn.balance.limits import Limit, limits_at
from homodyn.balance.margins import Margins, margins
from homodyn.balance.phases import Phase, in_order, phase_numbers
from homodyn.balance.polygons import Level
from homodyn.balance.stance import Stance
from homodyn.balance.wrenches import Point
from homodyn.capture.kinetics import find_feet
from homodyn.errors import ModelError
from homodyn.motion import Motion


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Margins of a motion over time; NaN in frames without a stance."""

    demand: Demand
    """The wrench that was judged: of the whole body where there is a model."""
    phases: tuple[Phase, ...]
    phase: np.ndarray
    """(frames,): number of the phase, -1 without one."""
    force: np.ndarray
    """(frames,), N: M_s1."""
    moment: np.ndarray
    """(frames,), N m: M_s2."""
    wrench: np.ndarray
    """(frames,), N m: M_s3."""
    side: np.ndarray
    """(frames,): the nearest side by M_s3."""
    point_mass: Margins
    """The same margins (frames,) with all mass in its centre."""
    criteria: Verdicts
    """What the classical criteria say of each frame."""

    @property
    def time(self) -> np.ndarray:
        """(frames,), s."""
        return self.demand.time

    @property
    def judged(self) -> np.ndarray:
        """(frames,): True where there is a stance."""
        return np.isfinite(self.wrench) | np.isinf(self.wrench)

    @property
    def balanced(self) -> float:
        """Share of the judged frames in which the supports can give what the motion needs."""
        return float((self.wrench[self.judged] >= -1e-6).mean())

    @property
    def shares(self) -> dict[int, float]:
        """The same for frames on one support, on two, and so on."""
        good = self.wrench >= -1e-6
        count = np.array([0 if p.stance is None else len(p.supports) for p in self.phases])
        held = np.where(self.judged, count[np.maximum(self.phase, 0)], 0)
        return {n: float(good[held == n].mean()) for n in np.unique(held[held > 0]).tolist()}

    @cached_property
    def worst(self) -> int:
        """The frame with the smallest M_s3."""
        return int(np.nanargmin(self.wrench))

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        """What each support does at the border nearest to the worst frame."""
        phase = self.phases[self.phase[self.worst]]
        return limits_at(phase.wrenches, int(self.side[self.worst]))

    def limits_of(self, frame: int) -> tuple[Limit, ...]:
        """The same for any judged frame."""
        return limits_at(self.phases[self.phase[frame]].wrenches, int(self.side[frame]))

    @property
    def difference(self) -> np.ndarray:
        """(frames,), N m: M_s3 of the whole body less that of the point mass."""
        return self.wrench - self.point_mass.wrench

    @property
    def sentence(self) -> str:
        """The weakest instant in one sentence."""
        phase = self.phases[self.phase[self.worst]]
        what = ", ".join(str(limit) for limit in self.limits if limit.modes) or "nothing gives way"
        margin, push = self.wrench[self.worst], self.force[self.worst]
        where = f"at {self.time[self.worst]:.3f} s, on {' and '.join(phase.supports)}"
        if margin < -1e-6:
            return (
                f"Out of balance {where}: the supports fall short by {-margin:.1f} N m; at the "
                f"border {what}."
            )
        left = f"{margin:.1f} N m are left (a push of {push:.1f} N)"
        return f"Weakest {where}: {left}; beyond it {what}."

    def rows(self) -> list[dict[str, object]]:
        """One row for each phase: when, on what, and the smallest margins in it."""
        told: list[dict[str, object]] = []
        for k, phase in enumerate(self.phases):
            held = np.flatnonzero(self.phase == k)
            row: dict[str, object] = {
                "phase": phase.name or str(k + 1),
                "start_s": phase.start,
                "end_s": phase.end,
                "supports": " + ".join(phase.supports),
                "frames": len(held),
            }
            if len(held) and phase.stance is not None:
                worst = int(held[np.argmin(self.wrench[held])])
                row |= {
                    "worst_s": float(self.time[worst]),
                    "force_N": float(self.force[held].min()),
                    "moment_Nm": float(self.moment[held].min()),
                    "wrench_Nm": float(self.wrench[worst]),
                    "point_mass_Nm": float(self.point_mass.wrench[held].min()),
                    "limit": ", ".join(str(x) for x in self.limits_of(worst) if x.modes),
                }
            told.append(row)
        return told


def evaluate(
    motion: Motion | Demand,
    stances: Sequence[Phase] | Stance,
    *,
    about: Point | None = None,
    unit: float = 1.0,
) -> Evaluation:
    """Judge a motion on its stances: margins over time, worst instant, what limits there.

    ``motion`` is a recorded or planned motion, of which every body counts, or a ``Demand``; one
    stance for all of it, or phases. Moments are about the centre of mass, or a fixed point
    ``about`` (m); ``unit`` (m) makes N of N m. See ``margins``.
    """
    demand = motion if isinstance(motion, Demand) else whole_body(motion)
    if isinstance(stances, Stance):
        stances = (Phase(stances, float(demand.time[0]), float(demand.time[-1]) + 1e-6),)
    phases = in_order(stances)
    numbers = phase_numbers(phases, demand.time)
    if not any((numbers == k).any() and p.stance is not None for k, p in enumerate(phases)):
        raise ModelError(
            f"no stance holds between {demand.time[0]:g} and {demand.time[-1]:g} s; the phases "
            f"last from {phases[0].start:g} to {phases[-1].end:g} s"
        )
    count = len(demand.time)
    whole = {f.name: np.full(count, np.nan) for f in fields(Margins)}
    single = {f.name: np.full(count, np.nan) for f in fields(Margins)}
    classical: dict[str, np.ndarray] = {}
    for k, phase in enumerate(phases):
        held = np.flatnonzero(numbers == k)
        if phase.stance is None or not len(held):
            continue
        here = _shifted(_taken(demand, held), -phase.moved(demand.time[held]))
        for told, part in ((whole, here), (single, here.as_point_mass)):
            found = margins(
                phase.wrenches, part.force, part.moment, com=part.com, about=about, unit=unit
            )
            for name, values in told.items():
                values[held] = getattr(found, name)
        foot = _foot(motion, phase, held) if isinstance(motion, Motion) else None
        seen = verdicts(here, phase.stance, foot=foot)
        for f in fields(Verdicts):
            values = getattr(seen, f.name)
            if f.name.endswith("_place"):
                values = values + Level.of(demand.gravity).flat(phase.moved(demand.time[held]))
            whole_series = np.full((count, *values.shape[1:]), np.nan)
            classical.setdefault(f.name, whole_series)[held] = values
    return Evaluation(
        demand,
        phases,
        numbers,
        whole["force"],
        whole["moment"],
        whole["wrench"],
        np.nan_to_num(whole["side"], nan=-1).astype(int),
        Margins(**single),
        Verdicts(**classical),
    )


def _taken(demand: Demand, held: np.ndarray) -> Demand:
    return Demand(
        demand.time[held],
        demand.com[held],
        demand.velocity[held],
        demand.force[held],
        demand.moment[held],
        demand.mass,
        demand.gravity,
        demand.kind,
    )


def _shifted(demand: Demand, by: np.ndarray) -> Demand:
    """The same motion moved sideways: its moments about the origin move with it."""
    if not by.any():
        return demand
    return Demand(
        demand.time,
        demand.com + by,
        demand.velocity,
        demand.force,
        demand.moment + np.cross(by, demand.force),
        demand.mass,
        demand.gravity,
        demand.kind,
    )


def _foot(motion: Motion, phase: Phase, held: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Inertia of the standing foot in single support, for the FRI."""
    if phase.stance is None or len(phase.stance.patches) != 1 or not phase.stance.patches[0].body:
        return None
    body = phase.stance.patches[0].body
    bodies = find_feet(motion.model, (body,))[0].bodies
    taken = Motion(motion.model, motion.time[held], motion.q[held], motion.v[held], motion.a[held])
    force, moment = foot_inertia(taken, bodies)
    return force, moment - np.cross(phase.moved(motion.time[held]), force)
