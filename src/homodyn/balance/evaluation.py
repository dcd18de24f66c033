"""A motion judged: margins over time, the weakest instant, and what gives way there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from homodyn.balance.classical_criteria import ClassicalCriteria, classical_criteria, foot_inertia
from homodyn.balance.contact_phases import SupportPhase, ordered_phases, phase_numbers
from homodyn.balance.limiting_contacts import LimitingContact, limiting_contacts
from homodyn.balance.required_wrench import RequiredWrench, whole_body_wrench
from homodyn.balance.stability_margins import WrenchMargins, wrench_margins
from homodyn.balance.stance import Stance
from homodyn.balance.support_areas import GroundAxes
from homodyn.balance.wrench_polytope import Point
from homodyn.capture.kinetics import find_feet
from homodyn.errors import ModelError
from homodyn.motion import Motion


@dataclass(frozen=True, eq=False)
class BalanceEvaluation:
    """Stability margins of a motion over time; NaN in frames without a stance."""

    demand: RequiredWrench
    """The evaluated wrench: of the whole body where there is a model."""
    phases: tuple[SupportPhase, ...]
    phase: np.ndarray
    """(frames,): index of the phase, -1 without one."""
    force: np.ndarray
    """(frames,), N: M_s1."""
    moment: np.ndarray
    """(frames,), N m: M_s2."""
    wrench: np.ndarray
    """(frames,), N m: M_s3."""
    side: np.ndarray
    """(frames,): index of the nearest facet by M_s3."""
    point_mass: WrenchMargins
    """The same margins (frames,) with all mass at the centre of mass."""
    criteria: ClassicalCriteria
    """Classical criteria in each frame."""

    @property
    def time(self) -> np.ndarray:
        """(frames,), s."""
        return self.demand.time

    @property
    def evaluated(self) -> np.ndarray:
        """(frames,): True where there is a stance."""
        return np.isfinite(self.wrench) | np.isinf(self.wrench)

    @property
    def balanced_share(self) -> float:
        """Share of the evaluated frames in which the supports can give the required wrench."""
        return float((self.wrench[self.evaluated] >= -1e-6).mean())

    @property
    def shares(self) -> dict[int, float]:
        """Balanced share of the frames by number of supports in contact."""
        good = self.wrench >= -1e-6
        count = np.array([0 if p.stance is None else len(p.supports) for p in self.phases])
        held = np.where(self.evaluated, count[np.maximum(self.phase, 0)], 0)
        return {n: float(good[held == n].mean()) for n in np.unique(held[held > 0]).tolist()}

    @cached_property
    def worst(self) -> int:
        """Index of the frame with the smallest M_s3."""
        return int(np.nanargmin(self.wrench))

    @cached_property
    def limits(self) -> tuple[LimitingContact, ...]:
        """Failure modes of the supports at the facet nearest to the worst frame."""
        phase = self.phases[self.phase[self.worst]]
        return limiting_contacts(phase.wrenches, int(self.side[self.worst]))

    def limits_of(self, frame: int) -> tuple[LimitingContact, ...]:
        """Find the failure modes of the supports at the facet nearest to a frame.

        Args:
            frame: Index of an evaluated frame.

        Returns:
            Failure modes of every support, as from `limiting_contacts`.
        """
        return limiting_contacts(self.phases[self.phase[frame]].wrenches, int(self.side[frame]))

    @property
    def difference(self) -> np.ndarray:
        """(frames,), N m: M_s3 of the whole body minus that of the point mass."""
        return self.wrench - self.point_mass.wrench

    @property
    def sentence(self) -> str:
        """The worst instant in one sentence."""
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
        """Tabulate the phases.

        Returns:
            One row per phase: time (s), supports and smallest margins (N, N m).
        """
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
    motion: Motion | RequiredWrench,
    stances: Sequence[SupportPhase] | Stance,
    *,
    about: Point | None = None,
    unit: float = 1.0,
) -> BalanceEvaluation:
    """Evaluate the balance of a motion: margins over time, worst instant and limiting contacts.

    Args:
        motion: Recorded or planned motion, evaluated with the inertia of all bodies, or a required
            wrench over time.
        stances: Contact phases in order of time, or one stance for the whole motion.
        about: Point (3,), m, about which moments are taken for the wrench margin; None for the
            centre of mass.
        unit: Length (m) that relates forces to moments: 1 N counts as ``unit`` N m.

    Returns:
        Margins and classical criteria per frame; NaN in frames without a stance.

    Raises:
        ModelError: No stance falls into the time of the motion, phases overlap, or ``unit`` is not
            positive.
        NoSolution: Gravity is zero, or the wrench set of a stance has too many vertices.
    """
    demand = motion if isinstance(motion, RequiredWrench) else whole_body_wrench(motion)
    if isinstance(stances, Stance):
        stances = (SupportPhase(stances, float(demand.time[0]), float(demand.time[-1]) + 1e-6),)
    phases = ordered_phases(stances)
    numbers = phase_numbers(phases, demand.time)
    if not any((numbers == k).any() and p.stance is not None for k, p in enumerate(phases)):
        raise ModelError(
            f"no stance holds between {demand.time[0]:g} and {demand.time[-1]:g} s; the phases "
            f"last from {phases[0].start:g} to {phases[-1].end:g} s"
        )
    count = len(demand.time)
    whole = {f.name: np.full(count, np.nan) for f in fields(WrenchMargins)}
    single = {f.name: np.full(count, np.nan) for f in fields(WrenchMargins)}
    classical: dict[str, np.ndarray] = {}
    for k, phase in enumerate(phases):
        held = np.flatnonzero(numbers == k)
        if phase.stance is None or not len(held):
            continue
        here = _translate(_at_frames(demand, held), -phase.belt_displacement(demand.time[held]))
        for told, part in ((whole, here), (single, here.point_mass)):
            found = wrench_margins(
                phase.wrenches, part.force, part.moment, com=part.com, about=about, unit=unit
            )
            for name, values in told.items():
                values[held] = getattr(found, name)
        foot = _stance_foot_inertia(motion, phase, held) if isinstance(motion, Motion) else None
        seen = classical_criteria(here, phase.stance, foot=foot)
        for f in fields(ClassicalCriteria):
            values = getattr(seen, f.name)
            if f.name.endswith("_position"):
                values = values + GroundAxes.of(demand.gravity).flat(
                    phase.belt_displacement(demand.time[held])
                )
            whole_series = np.full((count, *values.shape[1:]), np.nan)
            classical.setdefault(f.name, whole_series)[held] = values
    return BalanceEvaluation(
        demand,
        phases,
        numbers,
        whole["force"],
        whole["moment"],
        whole["wrench"],
        np.nan_to_num(whole["side"], nan=-1).astype(int),
        WrenchMargins(**single),
        ClassicalCriteria(**classical),
    )


def _at_frames(demand: RequiredWrench, held: np.ndarray) -> RequiredWrench:
    return RequiredWrench(
        demand.time[held],
        demand.com[held],
        demand.velocity[held],
        demand.force[held],
        demand.moment[held],
        demand.mass,
        demand.gravity,
        demand.kind,
    )


def _translate(demand: RequiredWrench, by: np.ndarray) -> RequiredWrench:
    """The same motion moved sideways: its moments about the origin move with it."""
    if not by.any():
        return demand
    return RequiredWrench(
        demand.time,
        demand.com + by,
        demand.velocity,
        demand.force,
        demand.moment + np.cross(by, demand.force),
        demand.mass,
        demand.gravity,
        demand.kind,
    )


def _stance_foot_inertia(
    motion: Motion, phase: SupportPhase, held: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Inertia of the standing foot in single support, for the FRI."""
    if phase.stance is None or len(phase.stance.patches) != 1 or not phase.stance.patches[0].body:
        return None
    body = phase.stance.patches[0].body
    bodies = find_feet(motion.model, (body,))[0].bodies
    taken = Motion(motion.model, motion.time[held], motion.q[held], motion.v[held], motion.a[held])
    force, moment = foot_inertia(taken, bodies)
    return force, moment - np.cross(phase.belt_displacement(motion.time[held]), force)
