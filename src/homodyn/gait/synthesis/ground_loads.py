"""What a step demands of the ground: friction where a foot is loaded, and impulses at touchdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from homodyn.dynamics.constraints import Constraint
from homodyn.foundation.record import Record, record
from homodyn.gait.synthesis.criteria import StepSamples, sample_step
from homodyn.gait.synthesis.problem import STEP_PHASES, WALKING_OBJECTIVES, synthesis_problem
from homodyn.gait.synthesis.step_library import StoredStep
from homodyn.gait.synthesis.step_motion import step_springs
from homodyn.model import Model
from homodyn.motion import Side
from homodyn.optimal.transcription.contact_dynamics import phase_dynamics

FORCE_CHECK_FRACTIONS = np.linspace(0.0, 1.0, 17)
"""Fractions of each interval at which forces are evaluated between the nodes."""
MIN_LOADED_WEIGHTS = 0.1
"""A foot is loaded where it bears this fraction of the weight; the friction that it demands at
smaller forces is a ratio of two small numbers."""


@record
class TouchdownImpulse(Record):
    """The impulse of the ground on one foot at a touchdown."""

    time: float
    """s, from the start of the step."""
    phase: str
    """The phase that begins with the impact."""
    side: Side
    """The foot."""
    impulse: np.ndarray
    """(3,), N s: forward, to the left, upward."""

    def headline(self) -> str:
        """Time, foot and upward impulse."""
        return f"TouchdownImpulse {self.time:.3f} s, {self.side}: {self.impulse[2]:.3g} N s upward"

    @property
    def tangential(self) -> float:
        """Horizontal impulse (N s)."""
        return float(np.hypot(*self.impulse[:2]))


@record
class GroundLoads(Record):
    """What a step demands of the ground."""

    friction: float | None
    """Coefficient of friction that bounded the step; None where nothing did."""
    friction_demand: Mapping[str, float]
    """By side, the largest ratio of tangential to normal force where the foot bears a tenth of the
    weight or more, at the nodes and between them."""
    impulses: tuple[TouchdownImpulse, ...]
    """Impulses at the touchdowns, foot by foot in the order of time."""
    impulse_share: float
    """Share of the support over the step that comes as impulses."""
    impulse_demand: float
    """Largest ratio of tangential to normal impulse of a foot that lands."""
    cone_excess: float = 0.0
    """Largest tangential force of a foot beyond the friction cone of ``friction``, as a fraction of
    the weight, at the nodes and between them; zero where nothing bounds it."""

    @property
    def required_friction(self) -> float:
        """Friction coefficient that forces of loaded feet and impulses of landing ones demand."""
        return max(*self.friction_demand.values(), self.impulse_demand)

    def headline(self) -> str:
        """Required friction and share of impulses."""
        return (
            f"GroundLoads: required friction {self.required_friction:.2f}, "
            f"{self.impulse_share:.1%} of support by impulses"
        )


def ground_loads(model: Model, step: StoredStep) -> GroundLoads:
    """Friction and impulses that a step demands of the ground.

    Forces follow from forward dynamics under the torques and springs of the step, also between the
    nodes.

    Args:
        model: The model.
        step: The step.

    Returns:
        Friction demand, impulses, and their share of the support.
    """
    weight = model.mass * float(np.linalg.norm(np.asarray(model.gravity, float)))
    ratios: dict[Side, list[np.ndarray]] = {side: [] for side in Side}
    excess = 0.0
    for _, contacts, forces in dense_contact_forces(model, step):
        for side in Side:
            force = foot_force(contacts, forces, side)
            tangential, normal = np.hypot(force[:, 0], force[:, 1]), force[:, 2]
            loaded = normal >= MIN_LOADED_WEIGHTS * weight
            ratios[side].append(tangential[loaded] / normal[loaded])
            if step.friction is not None:
                excess = max(excess, float(np.max(tangential - step.friction * normal)))
    demand = {side: np.concatenate(parts) for side, parts in ratios.items()}
    impulses = touchdown_impulses(step)
    upward = sum(float(each.impulse[2]) for each in impulses)
    lands = [each for each in impulses if each.side is Side.LEFT and each.impulse[2] > 0]
    return GroundLoads(
        step.friction,
        {str(side): float(values.max(initial=0.0)) for side, values in demand.items()},
        impulses,
        upward / (weight * step.duration),
        max((each.tangential / float(each.impulse[2]) for each in lands), default=0.0),
        excess / weight,
    )


def touchdown_impulses(step: StoredStep) -> tuple[TouchdownImpulse, ...]:
    """The impulses of the ground on both feet at the touchdowns of a step.

    Args:
        step: The step.

    Returns:
        One impulse per foot on the ground and touchdown.
    """
    found = []
    for phase, contacts in zip(step.phases, STEP_PHASES, strict=True):
        if phase.impulse.size:
            for side in Side:
                impulse = foot_force(contacts.contacts, phase.impulse[None], side)[0]
                found.append(TouchdownImpulse(float(phase.time[0]), phase.name, side, impulse))
    return tuple(found)


def foot_force(contacts: Constraint, forces: np.ndarray, side: Side) -> np.ndarray:
    """Sum of the contact rows of one foot as world vectors (samples, 3)."""
    along = np.array([row.slide for row in contacts.rows]).reshape(-1, 3)
    own = np.array([float(row.frame.endswith(side.title)) for row in contacts.rows])
    return np.asarray((forces * own) @ along)


def dense_contact_forces(
    model: Model, step: StoredStep
) -> Iterator[tuple[StepSamples, Constraint, np.ndarray]]:
    """Per phase its samples at and between the nodes, its contacts, and their forces there."""
    springs = step_springs(model, step)
    objective = step.objective or WALKING_OBJECTIVES["mixed"]
    phases = synthesis_problem(model, objective=objective, friction=None).phases
    for at, phase in zip(sample_step(step, FORCE_CHECK_FRACTIONS), phases, strict=True):
        dynamics = phase_dynamics(model, phase, springs)
        numbers = np.array([[step.parameters[name] for name in dynamics.parameters]])
        none = np.zeros((len(at.q), 0))
        forces = dynamics.kernel(at.q, at.v, at.tau, numbers, none)[2]
        yield at, phase.contacts, np.asarray(forces)


def min_normal_forces(model: Model, step: StoredStep) -> dict[str, float]:
    """The smallest normal force of each contact along a step, also between the nodes.

    Forces follow from forward dynamics under the torques and springs of the step.

    Args:
        model: The model.
        step: The step.

    Returns:
        By contact, a force (N); negative where it is tensile.
    """
    smallest: dict[str, float] = {}
    for _, contacts, forces in dense_contact_forces(model, step):
        for k, row in enumerate(contacts.rows):
            if row.slide == (0.0, 0.0, 1.0):
                low = float(forces[:, k].min())
                smallest[row.frame] = min(low, smallest.get(row.frame, np.inf))
    return smallest
