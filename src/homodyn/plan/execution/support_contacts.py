"""Supports of a plan as contacts of the controller, and as forces and obstacles of a simulation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from homodyn import dynamics
from homodyn.control import BodyContact
from homodyn.control.collision.obstacle_distance import nearest_on_obstacles
from homodyn.motion import PlaneObstacle
from homodyn.motion.obstacles import Obstacle
from homodyn.motion.supports import ContactPatch, Grasp, Support
from homodyn.plan.execution.plan_references import PlanReferences
from homodyn.plan.phase_sequence import PhaseSequence
from homodyn.plan.support_targets import SupportBody
from homodyn.simulate import BodyForce, ContactGeometry

GRASP_STIFFNESS_N_M = 2e4
GRASP_DAMPING_NS_M = 200.0
SEAT_STIFFNESS_N_M = 2e4
SEAT_DAMPING_NS_M = 500.0
SEAT_FRICTION_SPEED_M_S = 0.05
"""Speed at which the friction of a seat reaches 71 % of its limit."""
MAX_GAP_TO_OBSTACLE_M = 0.02
"""Distance of a patch from the obstacle that carries it."""

Interval = tuple[float, float]


def support_intervals(
    sequence: PhaseSequence, speed: float, end: float
) -> list[tuple[Support, Interval]]:
    """Supports with the times in which they are used, in the order of their starts.

    Args:
        sequence: Phases of the plan.
        speed: Part of the planned speed.
        end: End of the execution (s), until which the last supports are used.

    Returns:
        Start and end (s) of the execution.
    """
    instants = np.asarray(sequence.instants) / speed
    last = len(sequence.stances) - 1
    found: list[tuple[Support, Interval]] = []
    for name in sequence.context.bodies:
        open_, begin = None, 0.0
        for k, stance in enumerate(sequence.stances):
            now = stance.get(name)
            if now is not open_:
                if open_ is not None:
                    found.append((open_, (begin, float(instants[k]))))
                open_, begin = now, float(instants[k])
        if open_ is not None:
            found.append((open_, (begin, max(end, float(instants[last + 1])))))
    return sorted(found, key=lambda item: item[1][0])


def seat_points(body: SupportBody) -> tuple[str, ...]:
    """Bodies that hang on a seated root, at whose origins the seat pushes: those of the legs.

    Args:
        body: The root.
    """
    model = body.model
    root, _ = model.locate(body.name)
    standing = {contact.body for contact in model.contacts}
    children = [name for k, name in enumerate(model.body_names) if model.parents[k] == root]
    legs = []
    for name in children:
        index = model.body_names.index(name)
        chain = {index}
        for k in range(index + 1, len(model.body_names)):
            if model.parents[k] in chain:
                chain.add(k)
        lowest = all(not model.body_names[k].endswith("hand") for k in chain)
        if lowest and standing & {model.body_names[k] for k in chain}:
            legs.append(name)
    return tuple(legs)


def body_contacts(
    sequence: PhaseSequence, intervals: Sequence[tuple[Support, Interval]], ramp: float
) -> list[BodyContact]:
    """Contacts of the controller with their schedules.

    Args:
        sequence: Phases of the plan.
        intervals: Supports and when they are used.
        ramp: Time in which forces rise and fall, s.
    """
    contacts = []
    for support, (start, end) in intervals:
        body = sequence.context.bodies[support.body]
        begin = -np.inf if start == 0.0 else start
        common: dict[str, Any] = {"schedule": ((begin, end),), "ramp": ramp}
        if isinstance(support, Grasp):
            contacts.append(
                BodyContact(
                    support.body,
                    (body.grip,),
                    max_force=float(np.min(support.force)),
                    grasps=True,
                    **common,
                )
            )
        elif body.is_sole:
            contacts.append(
                BodyContact(
                    support.body,
                    body.contacts,
                    friction=support.friction,
                    normal=support.normal,
                    **common,
                )
            )
        else:
            contacts += [
                BodyContact(leg, (leg,), friction=support.friction, normal=support.normal, **common)
                for leg in seat_points(body)
            ]
    return contacts


def support_forces(
    references: PlanReferences,
    sequence: PhaseSequence,
    intervals: Sequence[tuple[Support, Interval]],
) -> list[BodyForce]:
    """Forces of grasps and seats in the simulation, as springs and dampers within their bounds.

    Args:
        references: References of the execution.
        sequence: Phases of the plan.
        intervals: Supports and when they are used.
    """
    model, forces = sequence.context.model, []
    for support, (start, end) in intervals:
        body = sequence.context.bodies[support.body]
        if isinstance(support, Grasp):
            place, bound = np.asarray(support.position), np.asarray(support.force)
            force = _grasp_force(model, body.grip, place, bound)
            forces.append(BodyForce(body.grip, force, start=start, duration=end - start))
        elif body.is_seat:
            for leg in seat_points(body):
                q = references.posture(start)
                height = float(support.normal @ np.asarray(dynamics.position(model, q, leg)))
                forces.append(
                    BodyForce(
                        leg,
                        _seat_force(model, leg, support, height),
                        start=start,
                        duration=end - start,
                    )
                )
    return forces


def _grasp_force(
    model: Any, frame: str, place: np.ndarray, bound: np.ndarray
) -> Callable[[Any, Any, Any, Any], Any]:
    def force(t: Any, q: Any, v: Any, batch: Any) -> Any:
        error = place - dynamics.position(model, q, frame)
        rate = dynamics.velocity(model, q, v, frame)
        wanted = GRASP_STIFFNESS_N_M * error - GRASP_DAMPING_NS_M * rate
        return ca.fmin(ca.fmax(wanted, -bound), bound)

    return force


def _seat_force(
    model: Any, frame: str, patch: ContactPatch, height: float
) -> Callable[[Any, Any, Any, Any], Any]:
    normal, friction = np.asarray(patch.normal), patch.friction

    def force(t: Any, q: Any, v: Any, batch: Any) -> Any:
        depth = height - ca.dot(normal, dynamics.position(model, q, frame))
        rate = dynamics.velocity(model, q, v, frame)
        closing = -ca.dot(normal, rate)
        push = SEAT_STIFFNESS_N_M * depth + SEAT_DAMPING_NS_M * closing
        push = ca.if_else(depth > 0, ca.fmax(push, 0.0), 0.0)
        slip = rate + closing * normal
        size = ca.sqrt(ca.sumsqr(slip) + SEAT_FRICTION_SPEED_M_S**2)
        return push * (normal - friction * slip / size)

    return force


def contact_geometry(sequence: PhaseSequence) -> ContactGeometry:
    """Soles and what they can touch: the ground, and obstacles that carry patches.

    All other obstacles are checked by distances after the simulation.

    Args:
        sequence: Phases of the plan.
    """
    context = sequence.context
    touching = {name for body in context.bodies.values() if body.is_sole for name in body.family}
    names = [contact.name for contact in context.model.contacts if contact.body in touching]
    return ContactGeometry(context.model, contacts=tuple(names), ground=carriers(sequence))


def carriers(sequence: PhaseSequence) -> tuple[Obstacle, ...]:
    """Planes and obstacles under the patches of feet; a plane under a patch without any.

    Args:
        sequence: Phases of the plan.
    """
    scene = sequence.context.scene
    found: list[Obstacle] = [each for each in scene.obstacles if isinstance(each, PlaneObstacle)]
    for support in scene.supports.values():
        on_sole = sequence.context.bodies[support.body].is_sole
        if not on_sole or not isinstance(support, ContactPatch):
            continue
        places = np.vstack([support.corners, support.middle])
        near = np.zeros(0, dtype=bool)
        if scene.obstacles:
            distance = np.asarray(nearest_on_obstacles(scene.obstacles, places, places)[1])
            near = np.abs(distance).max(axis=0) < MAX_GAP_TO_OBSTACLE_M
        found += [
            scene.obstacles[k] for k in np.flatnonzero(near) if scene.obstacles[k] not in found
        ]
        if not near.any():
            height = float(support.normal @ support.middle)
            found.append(PlaneObstacle(support.normal, height, name=f"under {support.name}"))
    return tuple(found)
