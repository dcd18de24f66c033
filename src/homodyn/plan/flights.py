"""Paths of bodies between supports: lines and arcs first, then trees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from homodyn import dynamics
from homodyn.control.collision.obstacle_distance import nearest_on_obstacles
from homodyn.foundation.record import Record, record
from homodyn.plan.bidirectional_tree import (
    FlightNode,
    SpeedLimits,
    TreeSearch,
    flight_of_nodes,
    shorten_path,
    subdivide,
)
from homodyn.plan.capsule_axes import capsule_axes
from homodyn.plan.flight_path import FlightPath, arc, largest_rates
from homodyn.plan.motion_options import FlightMethod, MotionPlanOptions
from homodyn.plan.phase_sequence import Flight
from homodyn.plan.posture_batch import CLEARANCE_TOLERANCE_M
from homodyn.plan.segment_postures import (
    MAX_JUMP,
    SegmentPostures,
    largest_jump,
    solve_instants,
    solve_segment,
)
from homodyn.plan.target_schedule import PostureReference, TargetSchedule

FOOT_LIFTS_M = (0.05, 0.12, 0.2, 0.26, 0.32, 0.4)
HAND_LIFTS_M = (0.0, 0.08, 0.2)
"""Heights of arcs that are tried, in this order."""
PLANNING_STEP_S = 0.06
"""Distance of the instants at which postures are planned."""
EDGE_ITERATIONS = 14
"""Iterations for the postures of an edge, which start from those of a neighbor."""
MAX_SUBDIVISIONS = 3
"""Times that a path of a tree gets more nodes, until its smooth curve is valid too."""
TREE_RESTARTS = 2
"""Trees that are grown from new samples where those before fail."""


@record
class FlightAttempt(Record):
    """A flight with the postures of its segment."""

    path: FlightPath
    valid: bool
    reason: str
    """What is wrong at the worst instant; empty where nothing is."""
    time: float
    """s: of the worst instant."""


@dataclass(frozen=True, eq=False)
class FlightPlanner:
    """Finds the path of one flight in a segment whose other targets are known."""

    schedule: TargetSchedule
    reference: PostureReference
    segment: tuple[int, int]
    flight: Flight
    first_pose: tuple[np.ndarray, np.ndarray]
    last_pose: tuple[np.ndarray, np.ndarray]
    options: MotionPlanOptions
    is_last: bool = True
    """Whether all other flights of the segment are known, so that its postures are final."""

    @property
    def span(self) -> tuple[float, float]:
        """Start and end of the flight, s."""
        instants = self.schedule.sequence.instants
        return float(instants[self.flight.first]), float(instants[self.flight.last + 1])

    @cached_property
    def is_foot(self) -> bool:
        """Whether the body stands on a sole."""
        return self.schedule.sequence.context.bodies[self.flight.body].is_sole

    def arcs(self) -> list[FlightPath]:
        """Lines and arcs within the limits of speed whose body alone is clear of obstacles."""
        lifts = FOOT_LIFTS_M if self.is_foot else HAND_LIFTS_M
        paths = [
            arc(self.flight.body, self.span, self.first_pose, self.last_pose, lift)
            for lift in lifts
        ]
        quick = [path for path in paths if self._is_fast_enough(path) and self._clear(path)]
        return quick or paths[:1]

    def try_path(self, path: FlightPath) -> tuple[FlightAttempt, SegmentPostures]:
        """A path with the postures of the whole segment."""
        found = solve_segment(
            self.schedule.with_flights(path), self.reference, self.segment, PLANNING_STEP_S
        )
        worst = found.worst
        reason = found.failures[worst]
        if found.solved and not self._is_fast_enough(path):
            speed, rate = largest_rates(path)
            reason = (
                f"{path.body} would move at {speed:.2f} m/s and {rate:.1f} rad/s, more than "
                f"{self.options.max_speed:g} m/s or {self.options.max_angular_speed:g} rad/s"
            )
        attempt = FlightAttempt(path, not reason, reason, float(found.time[worst]))
        return attempt, found

    def search(self, rng: np.random.Generator) -> tuple[FlightAttempt, SegmentPostures] | None:
        """The path of a tree search with the postures of the segment; None where none is found."""
        for _ in range(TREE_RESTARTS):
            nodes, iterations = self._grow(rng)
            if not nodes:
                continue
            path = flight_of_nodes(self.flight.body, nodes, iterations)
            for _ in range(MAX_SUBDIVISIONS + 1):
                attempt, found = self.try_path(path)
                if attempt.valid:
                    return attempt, found
                path = subdivide(path)
        return None

    def _grow(self, rng: np.random.Generator) -> tuple[list[FlightNode], int]:
        start, end = self.span
        ends = self.reference.at(np.array([start, end]))
        search = TreeSearch(
            FlightNode(start, *self.first_pose, ends[0]),
            FlightNode(end, *self.last_pose, ends[1]),
            SpeedLimits(self.options.max_speed / 2, self.options.max_angular_speed / 2),
            self._postures,
            self._is_clear,
            rng,
            self.options.max_iterations,
        )
        nodes, iterations = search.run()
        if nodes:
            nodes = shorten_path(search, nodes, self.options.shortcuts)
        return nodes, iterations

    def _postures(
        self, time: np.ndarray, position: np.ndarray, rotation: np.ndarray, q: np.ndarray
    ) -> np.ndarray | None:
        """Postures at samples of an edge; None where one fails."""
        sequence = self.schedule.sequence
        order = np.argsort(time, kind="stable")
        path = FlightPath(
            self.flight.body,
            *self.span,
            time[order],
            position[order],
            rotation[order],
            "samples",
        )
        phase = np.clip(
            np.searchsorted(sequence.instants, time, side="right") - 1,
            self.flight.first,
            self.flight.last,
        )
        found = solve_instants(
            self.schedule.with_flights(path),
            self.reference,
            phase,
            time,
            np.broadcast_to(q, (len(time), len(q))),
            EDGE_ITERATIONS,
        )
        return found.q if found.solved else None

    def _is_fast_enough(self, path: FlightPath) -> bool:
        speed, rate = largest_rates(path)
        return bool(speed <= self.options.max_speed and rate <= self.options.max_angular_speed)

    def _clear(self, path: FlightPath) -> bool:
        return self._is_clear(*path.pose(np.linspace(path.start, path.end, 25)))

    def _is_clear(self, position: np.ndarray, rotation: np.ndarray) -> bool:
        """Whether the capsules of a foot alone keep their distances at given poses."""
        if not self.is_foot or not self._capsules[2].size:
            return True
        start, end, required, radius = self._capsules
        scene = self.schedule.sequence.context.scene
        ends = [
            position[:, None] + np.einsum("nij,cj->nci", rotation, local) for local in (start, end)
        ]
        distance = nearest_on_obstacles(scene.obstacles, *ends)[1] - radius[:, None]
        return bool((distance >= required - CLEARANCE_TOLERANCE_M).all())

    @cached_property
    def _capsules(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Ends of the capsules of the body in its axes, distances to keep, and radii."""
        context = self.schedule.sequence.context
        model = context.model
        body = context.bodies[self.flight.body]
        chosen = [k for k, capsule in enumerate(model.capsules) if capsule.body in body.family]
        q = model.neutral()
        axes, radius = capsule_axes(model, q)
        turn = np.asarray(dynamics.orientation(model, q, body.name))
        local = (axes[chosen] - dynamics.position(model, q, body.name)) @ turn
        margins: dict[tuple[str, str], float] = {}
        for phase in range(self.flight.first, self.flight.last + 1):
            limit = context.limit(self.schedule.sequence.uses(phase))
            for key, value in limit.pair_margins.items():
                margins[key] = min(value, margins.get(key, np.inf))
        required = np.array(
            [
                [
                    margins.get((model.capsules[k].name, each.name), context.clearance)
                    for each in context.scene.obstacles
                ]
                for k in chosen
            ]
        )
        return local[:, 0], local[:, 1], required, radius[chosen]


def plan_flight(
    planner: FlightPlanner, rng: np.random.Generator
) -> tuple[FlightAttempt, SegmentPostures]:
    """The first valid path of a flight by the methods of the options.

    Args:
        planner: The flight in its segment.
        rng: Source of random samples.

    Returns:
        The path, or the attempt that failed latest, with the postures of the segment.
    """
    method = planner.options.flight
    best: tuple[FlightAttempt, SegmentPostures] | None = None
    best_rank = (False, 0.0, -np.inf)
    if method is not FlightMethod.BIRRT or not planner.is_foot:
        for path in planner.arcs():
            attempt, found = planner.try_path(path)
            jump = largest_jump(planner.schedule, found)
            if attempt.valid and (jump <= MAX_JUMP or not planner.is_last):
                return attempt, found
            # Valid paths before others, and those on which postures jump least.
            rank = (float(found.valid.mean()), -jump)
            if best is None or (attempt.valid, *rank) > best_rank:
                best, best_rank = (attempt, found), (attempt.valid, *rank)
        if best is not None and best[0].valid:
            return best
    if method is not FlightMethod.ARC:
        searched = planner.search(rng)
        if searched is not None:
            return searched
    if best is None:
        best = planner.try_path(planner.arcs()[0])
        if best[0].valid:
            # Trees alone were asked for: an arc is no answer.
            reason = f"no path was found in {planner.options.max_iterations} iterations"
            best = replace(best[0], valid=False, reason=reason), best[1]
    return best
