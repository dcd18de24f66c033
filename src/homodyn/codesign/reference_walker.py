"""Walking without a robot of the search: the person alone, and in an anthropomorphic robot.

Hips, knees and ankles are driven by motors like those of the robot. The anthropomorphic robot has
two bars on each leg with actuators at hip and knee, of the same materials; its joints coincide with
those of the person, so it adds mass and no degree of freedom.
"""

from __future__ import annotations

from dataclasses import field, fields, replace
from functools import cached_property
from typing import Any, Unpack

import casadi as ca
import numpy as np

from homodyn.catalog import winter_human
from homodyn.codesign.design_study import WORST_OBJECTIVE, walking_value
from homodyn.codesign.device import NOMINAL_SHARE
from homodyn.codesign.drive import DriveBounds, drive_names, drive_parameters
from homodyn.codesign.joint_rows import JointAngle
from homodyn.codesign.leg_frame import LegFrame, leg_frames
from homodyn.codesign.link_inertia import Construction, Point, link_inertia
from homodyn.codesign.motor_set import SIDES, leg_motors
from homodyn.codesign.walking import Walker, WalkingOutcome, WalkingTask
from homodyn.foundation.record import Record, record
from homodyn.model import Body, Model
from homodyn.model.side import Side
from homodyn.search import PSO, Objective, OptimizerSettings, SearchResult, Space, minimize
from homodyn.search.options import SearchKeywords
from homodyn.spatial import Transform

JOINT_BOUNDS_RAD = {"hip": (-0.8, 0.8), "knee": (-0.1, 1.5), "ankle": (-0.6, 0.6)}
"""Target angles, as in the study of human gait (section 4.1.2)."""
FIRST_TARGET_RAD = 0.3


@record
class ReferenceStudy(Record):
    """A search for walking of a person whose hips, knees and ankles are driven."""

    name: str = "person"
    model: Model = field(default_factory=winter_human)
    task: WalkingTask = field(default_factory=WalkingTask)
    objective: str = "power"
    """``"power"`` or ``"torque"``."""
    points: int = 5
    optimizer: OptimizerSettings = field(default_factory=lambda: PSO.with_constriction(200))
    iterations: int = 800

    def __getstate__(self) -> dict[str, Any]:
        # Without programs: each process builds its own.
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def bounds(self) -> dict[str, DriveBounds]:
        """Bounds of the motors by joint."""
        return {
            name: DriveBounds(low, high, FIRST_TARGET_RAD, self.points)
            for name, (low, high) in JOINT_BOUNDS_RAD.items()
        }

    @cached_property
    def space(self) -> Space:
        """19 parameters for each of three joints."""
        found = [p for name, bounds in self.bounds.items() for p in drive_parameters(name, bounds)]
        return Space(parameters=tuple(found))

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """Table 5.3 without the checks of a robot."""
        return (
            Objective(name="time", maximize=True, until=">= 0.9999"),
            Objective(name="walking", maximize=True, until=">= 1"),
            Objective(name=self.objective),
        )

    @cached_property
    def walker(self) -> Walker:
        """The simulation."""
        joints: dict[str, dict[Side, JointAngle]] = {
            name: {side: {f"{side.value}_{name}": 1.0} for side in SIDES}
            for name in JOINT_BOUNDS_RAD
        }
        bounds = next(iter(self.bounds.values()))
        return Walker(self.model, leg_motors(self.model, joints, bounds), self.task)

    def batch(self, values: np.ndarray) -> dict[str, np.ndarray]:
        """Batch parameters of candidates.

        Args:
            values: (candidates, parameters).

        Returns:
            Values by name.
        """
        names = [one for name in self.bounds for one in drive_names(name, self.points)]
        columns = [self.space.names.index(name) for name in names]
        return dict(zip(names, values[:, columns].T, strict=True))

    def simulate(self, values: np.ndarray, threads: int | None = None) -> WalkingOutcome:
        """Simulate candidates.

        Args:
            values: (candidates, parameters).
            threads: Threads; all by default.

        Returns:
            What was measured.
        """
        return self.walker.simulate(self.batch(np.atleast_2d(values)), threads=threads)

    def evaluate_batch(self, values: np.ndarray) -> np.ndarray:
        """Objectives of candidates as a search needs them.

        Args:
            values: (candidates, parameters).

        Returns:
            (candidates, objectives); NaN where the simulation broke.
        """
        outcome = self.simulate(values)
        last = np.asarray(getattr(outcome, self.objective))
        last = np.where(np.isfinite(last), last, WORST_OBJECTIVE)
        columns = [outcome.time, walking_value(outcome, self.task.speed), last]
        rows = np.stack(columns, axis=-1)
        rows[outcome.broken] = np.nan
        return rows

    def search(self, seed: int = 0, **changes: Unpack[SearchKeywords]) -> SearchResult:
        """Search for the best gait.

        Args:
            seed: Seed of the optimizer.
            **changes: Fields of `SearchOptions`, such as ``database="person.db"``.

        Returns:
            The best candidate and the study with all of them.
        """
        return minimize(
            self.evaluate_batch,
            self.space,
            objectives=list(self.objectives),
            optimizer=self.optimizer,
            batch=True,
            name=self.name,
            seed=seed,
            iterations=self.iterations,
            **changes,
        )

    def headline(self) -> str:
        """Name and model."""
        return f"ReferenceStudy {self.name!r} of {self.model.name!r}, least {self.objective}"


def anthropomorphic_person(person: Model, construction: Construction | None = None) -> Model:
    """A person in a robot whose joints coincide with hips and knees.

    On each leg a bar from hip to knee and one from knee to the middle of the shank; actuators at
    hip (on the trunk) and knee (on the thigh), pins at the cuffs on thigh and shank.

    Args:
        person: A planar person.
        construction: Masses of bars, actuators and pins; the published ones by default.

    Returns:
        The person with these masses added to trunk, thighs and shanks.
    """
    built = construction or Construction()
    model = person
    for frame in leg_frames(person):
        hip_at, knee_at = _point(frame.hip), _point(frame.knee)
        middle = _along(frame, 1), _along(frame, 2)
        parts: tuple[tuple[list[Point], list[tuple[Point, float]]], ...] = (
            ([], [(hip_at, built.actuator_mass)]),
            ([hip_at, knee_at], [(knee_at, built.actuator_mass), (middle[0], built.pin_mass)]),
            ([knee_at, middle[1]], [(middle[1], built.pin_mass)]),
        )
        for body, placement, (bar, carried) in zip(
            frame.bodies, frame.placements, parts, strict=True
        ):
            model = _with_part(model, body, placement, frame.lateral, bar, carried, built)
    return replace(model, name=f"{person.name}_anthropomorphic_robot")


def _point(place: np.ndarray) -> Point:
    return float(place[0]), float(place[1])


def _along(frame: LegFrame, segment: int) -> Point:
    """The place of a cuff in the middle of a segment."""
    low, high = frame.ends[segment]
    return float(frame.x[segment]), float(low + NOMINAL_SHARE * (high - low))


def _with_part(
    model: Model,
    name: str,
    placement: Transform,
    lateral: float,
    bar: list[Point],
    carried: list[tuple[Point, float]],
    construction: Construction,
) -> Model:
    """The model with bars and cylinders fixed to a body."""
    added = link_inertia(bar, carried, construction)
    mass, about_y = float(ca.DM(ca.SX(added.mass))), float(ca.DM(ca.SX(added.about_y)))
    x, z = (float(ca.DM(ca.SX(one))) for one in added.com)
    rotation = np.asarray(placement.E, dtype=float)
    local = rotation @ (np.array([x, lateral, z]) - np.asarray(placement.r, dtype=float))
    bodies = []
    for body in model.bodies:
        bodies.append(_heavier(body, mass, local, about_y) if body.name == name else body)
    return replace(model, bodies=tuple(bodies))


def _heavier(body: Body, mass: float, place: np.ndarray, about_y: float) -> Body:
    """A body with a flat part whose center of mass is at a place in its axes."""
    own, com = float(body.mass), np.asarray(body.com, dtype=float)
    total = own + mass
    center = (own * com + mass * place) / total
    flat = np.diag([about_y / 2, about_y, about_y / 2])
    inertia = np.asarray(body.inertia, dtype=float) + flat
    for part, at in ((own, com), (mass, place)):
        d = at - center
        inertia = inertia + part * (d @ d * np.eye(3) - np.outer(d, d))
    return replace(body, mass=total, com=center, inertia=inertia)
