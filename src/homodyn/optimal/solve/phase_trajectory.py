"""The trajectories of phases as one motion.

The frames of the motion are the nodes and the time points of the controls. At a node between two
intervals torques may jump; the frame has their mean, and the accelerations and contact forces that
follow from it by forward dynamics. At a node between two phases velocities may jump too, by an
impact, and other contacts act: the frame has the state, the torques and the contact forces with
which the later phase begins. Phases after a transition to the mirror image are mirrored back, so
that the movement is continuous.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from homodyn.dynamics.constraints import Constraint
from homodyn.errors import HomodynError
from homodyn.model import Model
from homodyn.motion import (
    FOOT_OFF,
    FOOT_STRIKE,
    Event,
    Motion,
    MotionSource,
    Side,
    join_motions,
    mirror_motion,
)
from homodyn.optimal.nlp.transcribed_problem import TranscribedProblem
from homodyn.optimal.solve.contact_forces import contact_forces, touching_feet
from homodyn.optimal.solve.interpolation import (
    ControlSamples,
    PhaseSamples,
    interpolate,
    interpolate_controls,
    interpolates_states,
)
from homodyn.optimal.solve.muscle_trajectory import MuscleTrajectory
from homodyn.optimal.solve.phase_solution import PhaseSolution
from homodyn.optimal.statement.external_loads import ExternalLoad
from homodyn.optimal.statement.springs import Spring, spring_torques
from homodyn.optimal.transcription.contact_dynamics import load_columns, phase_dynamics

TIME_TOLERANCE_S = 1e-9
"""Times this near to the end of a phase belong to the next one."""


@dataclass(frozen=True, eq=False)
class PhaseTrajectory:
    """A solved phase with all of its controls, and the contacts and loads that act in it.

    Attributes:
        solution: States, accelerations, torques and contact forces.
        contacts: The contacts that the force columns belong to.
        at_nodes: Controls at the nodes; by default the mean of those of both intervals.
        external_loads: Known wrenches that act besides torques and contacts.
        springs: Springs across joints, whose torques are added to those of the solution.
        parameters: Parameters of the springs.
        mirrored: Whether the phase describes the mirror image of the movement.
        muscles: Its muscles, whose torques are added to those of the solution.
    """

    solution: PhaseSolution
    contacts: Constraint
    at_nodes: ControlSamples | None = None
    external_loads: Sequence[ExternalLoad] = ()
    springs: Sequence[Spring] = ()
    parameters: Mapping[str, float] = field(default_factory=dict)
    mirrored: bool = False
    muscles: MuscleTrajectory | None = None


def phase_trajectories(
    transcribed: TranscribedProblem,
    phases: Sequence[PhaseSolution],
    parameters: Mapping[str, float],
) -> tuple[PhaseTrajectory, ...]:
    """The phases of a solution with all of their controls.

    Args:
        transcribed: The problem.
        phases: Trajectories of its phases.
        parameters: Parameters of the problem, for springs.

    Returns:
        One trajectory per phase.
    """
    found: list[PhaseTrajectory] = []
    mirrored = False
    for k, (statement, phase) in enumerate(zip(transcribed.phases, phases, strict=True)):
        controls = _forward_dynamics(transcribed, k, phase, parameters)
        if not transcribed.transcription.has_contact_forces:
            phase = replace(phase, a=controls.a, force=controls.force)
        found.append(
            PhaseTrajectory(
                phase,
                statement.contacts,
                controls,
                statement.external_loads,
                transcribed.springs,
                parameters,
                mirrored,
                _muscle_trajectory(transcribed, phase),
            )
        )
        mirrored = mirrored != (statement.transition == "mirror")
        mirrored = mirrored and statement.transition != "separate"
    return tuple(found)


def _forward_dynamics(
    transcribed: TranscribedProblem, k: int, phase: PhaseSolution, parameters: Mapping[str, float]
) -> ControlSamples:
    """Torques at the nodes, and the accelerations and contact forces that follow from them."""
    statement = transcribed.phases[k]
    if statement.compliant:
        return _mean_controls(phase)
    dynamics = phase_dynamics(transcribed.model, statement, transcribed.springs)
    numbers = np.array([[parameters[name] for name in dynamics.parameters]], dtype=float)
    fractions = np.arange(phase.intervals + 1) / phase.intervals
    tau = phase.tau if len(phase.tau) == len(fractions) else _mean_controls(phase).tau
    loads = load_columns(statement, fractions, None)
    muscles = _muscle_trajectory(transcribed, phase)
    pull = 0.0 if muscles is None else muscles(phase.time, phase.q, phase.v).torque
    _, a, force = dynamics.kernel(phase.q, phase.v, tau + pull, numbers, loads)
    return ControlSamples(a, tau, force)


def _muscle_trajectory(
    transcribed: TranscribedProblem, phase: PhaseSolution
) -> MuscleTrajectory | None:
    """The muscles of a solved phase, where they act."""
    dynamics = transcribed.muscle_dynamics
    return None if dynamics is None else MuscleTrajectory(dynamics, phase)


def _mean_controls(phase: PhaseSolution) -> ControlSamples:
    """The mean of the controls of both intervals at each node."""
    count = phase.intervals
    nodes = np.arange(count + 1)
    before, after = (
        interpolate_controls(phase, nodes / count, interval)
        for interval in (np.maximum(nodes - 1, 0), np.minimum(nodes, count - 1))
    )
    return ControlSamples(
        (before.a + after.a) / 2, (before.tau + after.tau) / 2, (before.force + after.force) / 2
    )


def join_phases(
    model: Model, phases: Sequence[PhaseTrajectory], time: np.ndarray | None = None
) -> Motion:
    """Phases as one motion, with torques, contact forces and the events of feet.

    Args:
        model: The model.
        phases: The phases in the order of time.
        time: (frames,), s, within the movement; by default the nodes and the time points of the
            controls.

    Returns:
        The motion, whose source is ``"optimized"``.

    Raises:
        HomodynError: No time lies within the movement.
    """
    if time is not None and not all(interpolates_states(phase.solution) for phase in phases):
        return join_phases(model, phases).resample(time)
    parts = []
    for k, phase in enumerate(phases):
        solution = phase.solution
        if time is None:
            part = _phase_motion(model, phase, *_frames(model, phase))
        else:
            inside = _times_inside(solution, time, last=k + 1 == len(phases))
            if not len(inside):
                continue
            fractions = np.clip((inside - solution.time[0]) / solution.duration, 0.0, 1.0)
            part = _phase_motion(
                model, phase, inside, interpolate(solution, fractions, None, model)
            )
        parts.append(mirror_motion(part) if phase.mirrored else part)
    if not parts:
        raise HomodynError("no time lies within the movement")
    motion = join_motions(parts)
    first, last = motion.time[0] - TIME_TOLERANCE_S, motion.time[-1] + TIME_TOLERANCE_S
    events = [event for event in contact_events(model, phases) if first <= event.time <= last]
    return replace(motion, events=tuple(events), source=MotionSource.OPTIMIZED)


def contact_events(model: Model, phases: Sequence[PhaseTrajectory]) -> tuple[Event, ...]:
    """Foot strikes and foot offs between phases, for contacts that are named after a foot.

    Args:
        model: The model.
        phases: The phases in the order of time.

    Returns:
        The events in the order of time.
    """
    events = []
    for before, after in pairwise(phases):
        time = float(after.solution.time[0])
        old, new = (_touching_sides(model, phase) for phase in (before, after))
        for label, sides in ((FOOT_STRIKE, new - old), (FOOT_OFF, old - new)):
            text = f"contact schedule: start of phase {after.solution.name!r}"
            events += [Event(time, label, s.title, description=text) for s in Side if s in sides]
    return tuple(events)


def _touching_sides(model: Model, phase: PhaseTrajectory) -> set[Side]:
    sides = touching_feet(model, phase.contacts)
    return {side.other for side in sides} if phase.mirrored else sides


def _times_inside(phase: PhaseSolution, time: np.ndarray, *, last: bool) -> np.ndarray:
    """The times within a phase; its end belongs to the next phase, if there is one."""
    begin, end = phase.time[0] - TIME_TOLERANCE_S, phase.time[-1] - TIME_TOLERANCE_S
    inside = (time >= begin) & ((time < end) | last) & (time <= end + 2 * TIME_TOLERANCE_S)
    return np.asarray(time[inside])


def _frames(model: Model, trajectory: PhaseTrajectory) -> tuple[np.ndarray, PhaseSamples]:
    """Times and samples at the nodes, and between them at the time points of the controls."""
    phase, count = trajectory.solution, trajectory.solution.intervals
    controls = trajectory.at_nodes or _mean_controls(phase)
    samples = PhaseSamples(phase.q, phase.v, controls.a, controls.tau, controls.force)
    inside = (phase.control_time - phase.time[0]) / phase.duration
    inside = inside[np.abs(inside * count - np.round(inside * count)) > 1e-6]
    if not len(inside) or not interpolates_states(phase):
        return phase.time, samples
    time = np.concatenate([phase.time, phase.time[0] + phase.duration * inside])
    order = np.argsort(time, kind="stable")
    between = interpolate(phase, inside, None, model)
    names = ("q", "v", "a", "tau", "force")
    joined = [np.concatenate([getattr(samples, n), getattr(between, n)])[order] for n in names]
    return time[order], PhaseSamples(*joined)


def _phase_motion(
    model: Model, phase: PhaseTrajectory, time: np.ndarray, samples: PhaseSamples
) -> Motion:
    fractions = (time - phase.solution.time[0]) / phase.solution.duration
    loads = [(load, load.sample(np.clip(fractions, 0, 1))) for load in phase.external_loads]
    springs = spring_torques(phase.springs, model, samples.q, samples.v, phase.parameters)
    muscles = None if phase.muscles is None else phase.muscles(time, samples.q, samples.v)
    pull = 0.0 if muscles is None else muscles.torque
    return Motion(
        model,
        time,
        samples.q,
        samples.v,
        samples.a,
        tau=samples.tau + springs + pull,
        contact_forces=contact_forces(model, phase.contacts, samples.q, samples.force, loads),
        activations=np.zeros((0, 0)) if muscles is None else muscles.activation,
    )
