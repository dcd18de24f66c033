"""Steps as motions: with torques and ground forces, repeated and mirrored to strides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from homodyn.gait.synthesis.problem import STEP_PHASES, spring_set
from homodyn.gait.synthesis.step_library import StoredStep
from homodyn.model import Model
from homodyn.motion import (
    FOOT_OFF,
    FOOT_STRIKE,
    Event,
    Motion,
    Side,
    advance_motion,
    join_motions,
    mirror_motion,
)
from homodyn.optimal import Spring
from homodyn.optimal.solve.phase_trajectory import PhaseTrajectory, join_phases

STANCE_SIDE = Side.RIGHT
"""The foot on which a step stands; the other one swings and strikes."""
TOUCHDOWN_PHASE = 2
"""The phase at whose start the swinging foot touches down."""


def step_springs(model: Model, step: StoredStep) -> tuple[Spring, ...]:
    """The springs of the joints, where the step has any."""
    springs, parameters = spring_set(model)
    return springs if set(parameters) <= set(step.parameters) else ()


def step_motion(model: Model, step: StoredStep, time: np.ndarray | None = None) -> Motion:
    """One step as a motion, with torques, ground forces and its foot strike.

    Args:
        model: The model.
        step: The step.
        time: (frames,), s, from the start of the step; by default the nodes and the time points of
            the controls.

    Returns:
        The motion.
    """
    springs = step_springs(model, step)
    phases = [
        PhaseTrajectory(phase, contacts.contacts, springs=springs, parameters=step.parameters)
        for phase, contacts in zip(step.phases, STEP_PHASES, strict=True)
    ]
    motion = join_phases(model, phases, time)
    notes = ("tau includes the torques of the springs across joints.",) if springs else ()
    return replace(motion, method=f"step {step.name!r}", notes=notes)


def stride_motion(model: Model, step: StoredStep, *, steps: int = 2, rate: float = 100.0) -> Motion:
    """A step and its mirror images in sequence, at equally spaced times.

    Args:
        model: The model.
        step: The step.
        steps: Number of steps; two are a stride.
        rate: Frames per second (Hz), changed a little so that all steps have the same whole number
            of frames: sampled alike, a step and its mirror image have equal measures.

    Returns:
        The motion, with torques, ground forces, foot strikes and foot offs.
    """
    duration = step.duration
    count = max(round(duration * rate), 2)
    time = np.linspace(0.0, steps * duration, steps * count + 1)
    owner = np.clip(np.floor(time / duration + 1e-9).astype(int), 0, steps - 1)
    forward = model.coordinate_index("Pelvis_TX")
    travel = float(step.phases[-1].q[-1, forward] - step.phases[0].q[0, forward])
    parts = []
    for n in np.unique(owner):
        part = step_motion(model, step, np.clip(time[owner == n] - n * duration, 0.0, duration))
        part = mirror_motion(part) if n % 2 else part
        parts.append(advance_motion(part, time=n * duration, distance=n * travel))
    return replace(
        join_motions(parts),
        time=time,
        method=f"step {step.name!r} and its mirror images",
        events=tuple(stride_events(step, steps=steps)),
    )


def stride_events(step: StoredStep, *, steps: int = 2) -> list[Event]:
    """Foot strikes and foot offs of a step and its mirror images.

    Args:
        step: The step.
        steps: Number of steps; two are a stride.

    Returns:
        The events in the order of time.
    """
    strike, duration = float(step.phases[TOUCHDOWN_PHASE].time[0]), step.duration
    events = []
    for n in range(steps):
        stance = STANCE_SIDE.other if n % 2 else STANCE_SIDE
        events.append(Event(n * duration + strike, FOOT_STRIKE, stance.other.title))
        events.append(Event((n + 1) * duration, FOOT_OFF, stance.title))
    return events
