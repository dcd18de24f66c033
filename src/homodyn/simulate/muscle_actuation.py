"""Muscles as actuation: activation dynamics, fibers with compliant tendons, and their energy.

The states of a muscle are its activation and, with a compliant tendon, the length of its fibers;
the integration method advances them with the model. Steps of fixed length take a linearly implicit
step of the fibers, whose equations are stiff.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from homodyn.errors import ModelError
from homodyn.foundation import Record, record
from homodyn.model import Model
from homodyn.model.muscles import Muscle
from homodyn.muscle.forces import BY_FILE, equilibrium, is_rigid, model_of
from homodyn.muscle.geometry.selects import is_constant, select
from homodyn.muscle.geometry.tangent_rule import GEODESIC
from homodyn.muscle.models.muscle_model import FiberState, HillModel
from homodyn.muscle.path_faults import check_moved
from homodyn.muscle.path_geometry import traced_geometry
from homodyn.muscle.path_polynomials import PathPolynomials
from homodyn.simulate.actuation import Actuation, ActuationInput, ActuationLoad
from homodyn.simulate.muscle_excitations import (
    Excitations,
    SampledExcitations,
    check_excitations,
    check_levels,
    traced_excitations,
)
from homodyn.spatial import Array

DEFAULT_ACTIVATION = 0.05
"""At the start, of muscles whose file states none."""
LARGEST_STATE = 1e6
"""Beyond any activation and fiber length (m)."""
ENERGY_STATES = (
    "muscle active work",
    "muscle damping loss",
    "muscle fiber energy",
    "muscle tendon energy",
)
"""Energies of all muscles together since the start (J): work of the active elements, loss in the
dampers, and energy that passive fibers and tendons store. Their work on the model is the first
minus the others."""


@record
class MuscleActuation(Record, Actuation):
    """Muscles that pull along their paths."""

    excitations: Excitations = 0.0
    """Excitations of all muscles, 0 to 1; see `homodyn.simulate.muscle_excitations`."""
    activation: ArrayLike | None = None
    """Activations at the start, 0 to 1: one for all, or one per muscle; None: as files state."""
    tendon: str = BY_FILE
    """``"file"``, ``"rigid"`` or ``"compliant"``; see `homodyn.muscle.forces`."""
    muscle_model: HillModel | None = None
    """A model for all muscles; that of the kind of each by default."""
    wrapping: str = GEODESIC
    """``"geodesic"``, whose moment arms are exact derivatives so that energy balances, or
    ``"opensim"``."""
    paths: PathPolynomials | None = None
    """Fitted lengths of `homodyn.muscle.fit_polynomials` instead of the paths, for speed."""

    def state_names(self, model: Model) -> tuple[str, ...]:
        """Activations and fiber lengths by muscle, then `ENERGY_STATES`."""
        names = []
        for muscle in model.muscles:
            if has_activation(muscle):
                names.append(f"{muscle.name} activation")
            if not is_rigid(muscle, self.tendon):
                names.append(f"{muscle.name} fiber length")
        return (*names, *ENERGY_STATES)

    def initial_state(
        self, model: Model, q: np.ndarray, v: np.ndarray, parameters: np.ndarray | None
    ) -> np.ndarray:
        """Activations, and lengths of fibers in equilibrium with their tendons.

        Raises:
            ModelError: An excitation or activation is no number from 0 to 1, or no coordinate
                moves a muscle.
        """
        check_excitations(self.excitations, model)
        activation = self._initial_activation(model)
        check_moved(model, self.wrapping)
        lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
        loose = [not is_rigid(muscle, self.tendon) for muscle in model.muscles]
        fibers = np.zeros((*lead, len(model.muscles)))
        if any(loose):
            q, v = np.broadcast_to(q, (*lead, model.nq)), np.broadcast_to(v, (*lead, model.nv))
            levels = np.broadcast_to(activation, (*lead, len(model.muscles)))
            choices = (self.muscle_model, self.wrapping, self.tendon)
            # Elements that are not finite fail at once; they have no equilibrium.
            known = np.nan_to_num(q), np.nan_to_num(v), levels
            fibers = equilibrium(model, *known, *choices, parameters=parameters).fiber_length
        columns = []
        for k, muscle in enumerate(model.muscles):
            if has_activation(muscle):
                columns.append(np.broadcast_to(activation[k], lead))
            if loose[k]:
                columns.append(fibers[..., k])
        columns += [np.zeros(lead)] * len(ENERGY_STATES)
        return np.stack(columns, axis=-1)

    def break_times(self) -> np.ndarray:
        """Times of sampled excitations (s)."""
        if not isinstance(self.excitations, SampledExcitations):
            return np.zeros(0)
        return np.asarray(self.excitations.time)

    def load(self, at: ActuationInput) -> ActuationLoad:
        """Generalized forces of all muscles, and the rates of their states.

        Args:
            at: Time, state, batch parameters and step.

        Returns:
            Torques and rates.

        Raises:
            ModelError: Names or sizes of excitations do not fit.
        """
        model = at.model
        geometry = traced_geometry(model, at.q, self.wrapping, self.paths)
        speeds = geometry.speeds(at.v)
        commands = traced_excitations(self.excitations, at)
        torque: Array = ca.SX.zeros(model.nv)
        rates: list[Array] = []
        energy: Array = ca.SX.zeros(len(ENERGY_STATES))
        place = 0
        laws = model_of(model, self.muscle_model)
        for k, (muscle, law, command) in enumerate(zip(model.muscles, laws, commands, strict=True)):
            if not isinstance(law, HillModel):
                raise ModelError(
                    f"muscle {muscle.name!r}: {type(law).__name__} has no dynamics; models derived "
                    "from HillModel are accepted"
                )
            activation = command
            if has_activation(muscle):
                activation = at.state[place]
                place += 1
                rates.append(law.activation_rate(muscle, command, activation))
            unit = MuscleUnit(muscle, law, activation, geometry.lengths[k], speeds[k])
            if is_rigid(muscle, self.tendon):
                force, power = unit.rigid()
            else:
                fiber = at.state[place]
                place += 1
                force, fiber_speed, power = unit.compliant(fiber, at.h)
                rates.append(fiber_speed)
            energy = energy + power
            for entry, arm in geometry.arms[k].items():
                torque[entry] += arm * force
        return ActuationLoad(torque, [], ca.vertcat(*rates, energy))

    def _initial_activation(self, model: Model) -> np.ndarray:
        names = [muscle.name for muscle in model.muscles]
        given = self.activation
        if given is None:
            stated = [
                m.settings.get("default_activation", DEFAULT_ACTIVATION) for m in model.muscles
            ]
            given = np.array(stated, dtype=float)
        return check_levels(names, given, "activation")


def has_activation(muscle: Muscle) -> bool:
    """Whether the activation of a muscle follows its excitation with a delay.

    Args:
        muscle: The muscle.
    """
    return not muscle.settings.get("ignore_activation_dynamics", False)


class MuscleUnit:
    """A muscle at one state over symbols."""

    def __init__(
        self, muscle: Muscle, law: HillModel, activation: Array, length: Array, speed: Array
    ) -> None:
        self.muscle, self.law, self.activation = muscle, law, activation
        self.length, self.speed = length, speed
        self.fastest = muscle.max_contraction_velocity * muscle.optimal_fiber_length

    def rigid(self) -> tuple[Array, Array]:
        """Force of the tendon (N), and the rates of `ENERGY_STATES` (W)."""
        force = self.law.tendon_force(self.muscle, self.activation, self.length, self.speed)
        force = select(self.activation < LARGEST_STATE, force, self.activation)
        along = self.length - self.muscle.tendon_slack_length
        fiber = FiberState.of(self.muscle, along, self.speed)
        return force, self._powers(force, fiber, self.speed)

    def compliant(self, fiber_length: Array, h: Array | None) -> tuple[Array, Array, Array]:
        """Force of the tendon (N), speed of the fibers (m/s), and rates of `ENERGY_STATES` (W).

        Args:
            fiber_length: m.
            h: Length of the step (s) if it shall be linearly implicit in the fiber length.
        """
        shortest = self._shortest()
        place = ca.SX.sym("fiber_length")
        expression = self._fiber_speed(place)
        if h is not None:
            slope = ca.jacobian(expression, place)
            expression = expression / (1 - h * ca.fmin(slope, 0.0))
        rate = ca.substitute(expression, place, fiber_length)
        rate = select(ca.logic_and(fiber_length <= shortest, rate < 0), 0.0, rate)
        force, cosine = self._tendon_force(fiber_length)
        # A state that is not a number must reach the model; fmax would turn it into a bound.
        known = self.activation + fiber_length
        force = select(known < LARGEST_STATE, force, known)
        norm_length = fiber_length / self.muscle.optimal_fiber_length
        fiber = FiberState(norm_length, rate / self.fastest, cosine)
        force = self.muscle.max_isometric_force * force
        return force, rate, self._powers(force, fiber, rate / cosine)

    def _shortest(self) -> Array:
        muscle = self.muscle
        along = self.law.shortest_fiber_along(muscle)
        if is_constant(along) and float(along) == 0:
            along = 0.01 * muscle.optimal_fiber_length
        width = muscle.optimal_fiber_length * ca.sin(muscle.pennation_angle)
        return ca.sqrt(along**2 + width**2)

    def _tendon_force(self, fiber_length: Array) -> tuple[Array, Array]:
        """Force of the tendon in maximal isometric forces, and the cosine of the pennation."""
        muscle = self.muscle
        width = muscle.optimal_fiber_length * ca.sin(muscle.pennation_angle)
        length = ca.fmax(fiber_length, self._shortest())
        along = ca.sqrt(length**2 - width**2)
        stretch = (self.length - along) / muscle.tendon_slack_length
        return ca.fmax(self.law.tendon_force_length(muscle, stretch), 0.0), along / length

    def _fiber_speed(self, fiber_length: Array) -> Array:
        """Rate of the fiber length, m/s."""
        muscle = self.muscle
        force, cosine = self._tendon_force(fiber_length)
        norm_length = fiber_length / muscle.optimal_fiber_length
        speed = self.law.fiber_speed(muscle, self.activation, norm_length, force / cosine)
        return self.fastest * speed

    def _powers(self, force: Array, fiber: FiberState, speed_along: Array) -> Array:
        """Rates of `ENERGY_STATES`; the active element has what the others leave of the force."""
        muscle, law = self.muscle, self.law
        speed = self.fastest * fiber.norm_speed
        passive = muscle.max_isometric_force * law.passive_force_length(muscle, fiber.norm_length)
        damping = muscle.max_isometric_force * law.damping(muscle) * fiber.norm_speed
        active = force / fiber.cosine - passive - damping
        tendon = force * (self.speed - speed_along)
        return ca.vertcat(-active * speed, damping * speed, passive * speed, tendon)
