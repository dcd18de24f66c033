"""Evaluation of the balance of a motion: margins over time, worst instant, limiting contacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import cached_property

import numpy as np

from homodyn.balance.contact_phases import SupportPhase, ordered_phases, phase_numbers
from homodyn.balance.criteria import ClassicalCriteria, classical_criteria, foot_inertia
from homodyn.balance.failure_modes import LimitingContact, limiting_contacts
from homodyn.balance.required_wrench import RequiredWrench, whole_body_wrench
from homodyn.balance.stability_margins import WrenchMargins, wrench_margins
from homodyn.balance.stance import Stance
from homodyn.balance.support_areas import GroundAxes
from homodyn.balance.wrench_polytope import Point
from homodyn.capture.kinetics import find_feet
from homodyn.errors import ModelError
from homodyn.foundation.record import record
from homodyn.foundation.time_series import Curve, TimeSeries
from homodyn.motion import Motion

MARGIN_TOLERANCE = 1e-6
"""N m: a wrench margin above minus this value counts as balanced."""

MIN_CONTACT_EXTENT_M = 1e-6
"""Contact points that deviate less from a line (m) are on it."""
MIN_AXIS_COSINE = 0.98
"""Cosine of the angle to a world axis from which a direction is named by it (11 degrees)."""


@record
class BalanceEvaluation(TimeSeries):
    """Stability margins of a motion over time; NaN in frames without a stance."""

    demand: RequiredWrench
    """The evaluated wrench: of the whole body where there is a model."""
    phases: tuple[SupportPhase, ...]
    """Contact phases."""
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
    """The same margins (frames,) with all mass at the center of mass."""
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
        """Fraction of the evaluated frames in which the supports can give the required wrench."""
        return float((self.wrench[self.evaluated] >= -MARGIN_TOLERANCE).mean())

    @property
    def shares(self) -> dict[int, float]:
        """Balanced fraction of the frames by number of supports in contact."""
        balanced = self.wrench >= -MARGIN_TOLERANCE
        counts = np.array([0 if p.stance is None else len(p.supports) for p in self.phases])
        supports = np.where(self.evaluated, counts[np.maximum(self.phase, 0)], 0)
        return {
            count: float(balanced[supports == count].mean())
            for count in np.unique(supports[supports > 0]).tolist()
        }

    @cached_property
    def worst(self) -> int:
        """Index of the frame with the smallest M_s3."""
        return int(np.nanargmin(self.wrench))

    @cached_property
    def limits(self) -> tuple[LimitingContact, ...]:
        """Failure modes of the supports at the facet nearest to the worst frame."""
        return self.limits_of(self.worst)

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
        margin, force = self.wrench[self.worst], self.force[self.worst]
        where = f"on {' and '.join(phase.supports)}"
        if len(self.time) > 1:
            where = f"at {self.time[self.worst]:.3f} s, {where}"
        flat = _flat_contact(phase) if margin <= MARGIN_TOLERANCE else ""
        if margin < -MARGIN_TOLERANCE:
            if flat:
                return (
                    f"Out of balance {where}: {flat}; it tips toward "
                    f"{self._push_direction(by_force=False)}, and {-margin:.1f} N m are missing."
                )
            limits = " and ".join(str(limit) for limit in self.limits if limit.modes)
            reason = f"; {limits}" if limits else ""
            return (
                f"Out of balance {where}: the supports give {-margin:.1f} N m less than the body "
                f"needs{reason}."
            )
        if flat:
            return f"No margin {where}: {flat}."
        limits = " and ".join(str(limit) for limit in self.limits if limit.modes)
        toward = f" toward {self._push_direction()}" if np.isfinite(force) else ""
        remaining = f"{margin:.1f} N m (a push of {force:.1f} N{toward})"
        beyond = f"; under a larger one {limits}" if limits else ""
        return f"Smallest margin {where}: {remaining}{beyond}."

    def _push_direction(self, *, by_force: bool = True) -> str:
        """World direction of the smallest push at the center of mass in the worst frame.

        It leaves the wrench set by the facet nearest by force, or by that nearest by wrench. The
        supports have to resist the push, so it is opposite to the outward force row.
        """
        phase = self.phases[self.phase[self.worst]]
        here = _take_frames(self.demand, np.array([self.worst]))
        here = _translate(here, -phase.belt_displacement(here.time))
        side = int(self.side[self.worst])
        if by_force:
            found = wrench_margins(phase.wrenches, here.force, here.moment, com=here.com)
            side = int(found.force_side[0])
        _, rows, _ = phase.wrenches.rows(here.com[0])
        return _direction_name(-rows[side])

    def columns(self) -> dict[str, Curve]:
        """Margins of the whole body and of the point mass, and the classical criteria.

        Returns:
            One curve per quantity.
        """
        margins = (
            ("force margin", "N", self.force),
            ("moment margin", "N m", self.moment),
            ("wrench margin", "N m", self.wrench),
            ("point mass wrench margin", "N m", self.point_mass.wrench),
        )
        curves = {name: Curve(name, unit, self.time, values) for name, unit, values in margins}
        return curves | self.criteria.columns()

    def headline(self) -> str:
        """The worst instant in one sentence."""
        return f"BalanceEvaluation: {self.sentence}"

    def rows(self) -> list[dict[str, object]]:
        """Tabulate the phases.

        Returns:
            One row per phase: time (s), supports and smallest margins (N, N m).
        """
        table: list[dict[str, object]] = []
        for k, phase in enumerate(self.phases):
            frames = np.flatnonzero(self.phase == k)
            row: dict[str, object] = {
                "phase": phase.name or str(k + 1),
                "start_s": phase.start,
                "end_s": phase.end,
                "supports": " + ".join(phase.supports),
                "frames": len(frames),
            }
            if len(frames) and phase.stance is not None:
                worst = int(frames[np.argmin(self.wrench[frames])])
                row |= {
                    "worst_s": float(self.time[worst]),
                    "force_N": float(self.force[frames].min()),
                    "moment_Nm": float(self.moment[frames].min()),
                    "wrench_Nm": float(self.wrench[worst]),
                    "point_mass_Nm": float(self.point_mass.wrench[frames].min()),
                    "limit": ", ".join(str(x) for x in self.limits_of(worst) if x.modes),
                }
            table.append(row)
        return table


def evaluate(
    motion: Motion | RequiredWrench,
    stances: Sequence[SupportPhase] | Stance,
    *,
    about: Point | None = None,
    unit: float = 1.0,
) -> BalanceEvaluation:
    """Evaluate the balance of a motion: margins over time, worst instant and limiting contacts.

    Args:
        motion: Any motion, evaluated with the inertia of all bodies, or a required wrench over
            time.
        stances: Contact phases in order of time, or one stance for the whole motion.
        about: Point (3,), m, about which moments are taken for the wrench margin; None for the
            center of mass.
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
            f"there is no stance between {demand.time[0]:g} and {demand.time[-1]:g} s; the phases "
            f"last from {phases[0].start:g} to {phases[-1].end:g} s"
        )
    count = len(demand.time)
    whole_body, point_mass = _empty_margins(count), _empty_margins(count)
    criteria: dict[str, np.ndarray] = {}
    for k, phase in enumerate(phases):
        frames = np.flatnonzero(numbers == k)
        if phase.stance is None or not len(frames):
            continue
        displacement = phase.belt_displacement(demand.time[frames])
        # On a treadmill the stance is fixed in the belt, so the motion is expressed there.
        relative = _translate(_take_frames(demand, frames), -displacement)
        for values, wrench in ((whole_body, relative), (point_mass, relative.point_mass)):
            margins = wrench_margins(
                phase.wrenches, wrench.force, wrench.moment, com=wrench.com, about=about, unit=unit
            )
            for name, array in values.items():
                array[frames] = getattr(margins, name)
        foot = _stance_foot_inertia(motion, phase, frames) if isinstance(motion, Motion) else None
        classical = classical_criteria(relative, phase.stance, foot=foot)
        for f in fields(ClassicalCriteria):
            values_here = getattr(classical, f.name)
            if f.name.endswith("_position"):
                values_here = values_here + GroundAxes.of(demand.gravity).flat(displacement)
            series = np.full((count, *values_here.shape[1:]), np.nan)
            criteria.setdefault(f.name, series)[frames] = values_here
    criteria["time"] = demand.time
    return BalanceEvaluation(
        demand,
        phases,
        numbers,
        whole_body["force"],
        whole_body["moment"],
        whole_body["wrench"],
        np.nan_to_num(whole_body["side"], nan=-1).astype(int),
        WrenchMargins(**point_mass),
        ClassicalCriteria(**criteria),
    )


def _flat_contact(phase: SupportPhase) -> str:
    """What a contact along a line or at a point means for balance; empty for other contacts."""
    if phase.stance is None or len(phase.stance.patches) != len(phase.stance.supports):
        return ""
    corners = np.vstack([patch.corners for patch in phase.stance.patches])
    width = np.linalg.svd(corners - corners.mean(axis=0), compute_uv=False)
    extents = int((width > MIN_CONTACT_EXTENT_M).sum())
    if extents == 0:
        return "the contact is a single point, and any moment about it tips the body"
    if extents == 1:
        return "the supports touch along a line, and any moment about it tips the body"
    return ""


def _direction_name(direction: np.ndarray) -> str:
    """A world direction: ``-x`` where it is near an axis, otherwise its components."""
    unit = direction / max(float(np.linalg.norm(direction)), 1e-300)
    axis = int(np.abs(unit).argmax())
    if abs(unit[axis]) > MIN_AXIS_COSINE:
        return f"{'+' if unit[axis] > 0 else '-'}{'xyz'[axis]}"
    return f"({', '.join(f'{component + 0.0:.2f}' for component in unit)})"


def _empty_margins(count: int) -> dict[str, np.ndarray]:
    return {f.name: np.full(count, np.nan) for f in fields(WrenchMargins)}


def _take_frames(demand: RequiredWrench, frames: np.ndarray) -> RequiredWrench:
    return replace(
        demand,
        time=demand.time[frames],
        com=demand.com[frames],
        velocity=demand.velocity[frames],
        force=demand.force[frames],
        moment=demand.moment[frames],
    )


def _translate(demand: RequiredWrench, by: np.ndarray) -> RequiredWrench:
    """The same motion translated; moments remain about the world origin."""
    if not by.any():
        return demand
    moment = demand.moment + np.cross(by, demand.force)
    return replace(demand, com=demand.com + by, moment=moment)


def _stance_foot_inertia(
    motion: Motion, phase: SupportPhase, frames: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Inertial force and moment of the stance foot in single support, for the FRI."""
    if phase.stance is None or len(phase.stance.patches) != 1 or not phase.stance.patches[0].body:
        return None
    bodies = find_feet(motion.model, (phase.stance.patches[0].body,))[0].bodies
    force, moment = foot_inertia(motion.take(frames), bodies)
    return force, moment - np.cross(phase.belt_displacement(motion.time[frames]), force)
