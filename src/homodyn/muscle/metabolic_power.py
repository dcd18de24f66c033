"""Metabolic power of all muscles over a movement, and in single states."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import casadi as ca
import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.foundation.time_series import Curve, TimeSeries
from homodyn.model import Model
from homodyn.model.muscles import Muscle
from homodyn.model.state_function import state_function
from homodyn.muscle.activation_levels import check_activations, check_excitations
from homodyn.muscle.fiber_history import FiberHistory, fiber_history, hill_law
from homodyn.muscle.finite_states import FINITE_STATE
from homodyn.muscle.forces import model_of, traced_lengths_and_speeds
from homodyn.muscle.geometry.tangent_rule import OPENSIM
from homodyn.muscle.metabolic_models import Bhargava2004, FiberWork, MetabolicModel
from homodyn.muscle.models.muscle_model import FiberState, HillModel
from homodyn.muscle.muscle_activations import MuscleActivations
from homodyn.spatial import Array, ArrayInput, ParameterValues

RATE_NAMES = ("total", "activation", "maintenance", "shortening", "work")


def _muscle_count(model: Model, *_: object, **__: object) -> tuple[int]:
    return (len(model.muscles),)


@record
class MuscleMetabolism(Record):
    """Metabolic power of all muscles in given states, (..., muscles), W each."""

    total: np.ndarray
    activation: np.ndarray
    """Heat of activation; with maintenance in the model of Umberger."""
    maintenance: np.ndarray
    shortening: np.ndarray
    """Heat of shortening and lengthening."""
    work: np.ndarray
    """Mechanical power of the active elements."""


@record
class MetabolicPower(TimeSeries):
    """Metabolic power of all muscles over a movement.

    Columns are named after muscles (W); ``basal`` and ``total`` are those of the body (W).
    """

    time: np.ndarray
    """(frames,), s."""
    muscles: tuple[str, ...]
    rates: MuscleMetabolism
    """(frames, muscles), W."""
    basal: float
    """W."""
    body_mass: float
    """kg."""
    cost: MetabolicModel

    @property
    def total(self) -> np.ndarray:
        """Power of the body: of all muscles, and at rest, (frames,), W."""
        return np.asarray(self.rates.total.sum(axis=1) + self.basal)

    @property
    def energy(self) -> float:
        """Energy of the body over the movement, J."""
        return float(np.trapezoid(self.total, self.time))

    @property
    def energies(self) -> np.ndarray:
        """Energy of each muscle over the movement, (muscles,), J."""
        return np.asarray(np.trapezoid(self.rates.total, self.time, axis=0))

    @property
    def mean_per_kg(self) -> float:
        """Mean power of the body, W/kg."""
        return self.energy / (self.time[-1] - self.time[0]) / self.body_mass

    def cost_of_transport(self, distance: float) -> float:
        """Energy per mass and distance, J/(kg m).

        Args:
            distance: That the body travels in the movement, m.
        """
        return self.energy / (self.body_mass * abs(distance))

    def headline(self) -> str:
        """Model, muscles and mean power."""
        return (
            f"MetabolicPower by {type(self.cost).__name__}: "
            f"{count_of(len(self.muscles), 'muscle')}, {self.mean_per_kg:.2f} W/kg"
        )

    @cached_property
    def _columns(self) -> dict[str, Curve]:
        columns = {
            name: Curve(name, "W", self.time, self.rates.total[:, k])
            for k, name in enumerate(self.muscles)
        }
        columns["basal"] = Curve("basal", "W", self.time, np.full(len(self.time), self.basal))
        columns["total"] = Curve("total", "W", self.time, self.total)
        return columns

    def columns(self) -> Mapping[str, Curve]:
        """Powers by name.

        Returns:
            Curves by name.
        """
        return self._columns


def metabolic_power(
    source: FiberHistory | MuscleActivations, cost: MetabolicModel | None = None
) -> MetabolicPower:
    """Metabolic power of all muscles over a movement.

    Args:
        source: Fibers over a movement (`fiber_history`, `homodyn.simulate.fiber_history_of`), or
            the result of static optimization, whose excitations are taken as its activations.
        cost: The model; `Bhargava2004` when left out.

    Returns:
        Power by muscle and part, basal power and energy.

    Raises:
        ModelError: The result has no fiber lengths, or a muscle has a model without fibers.
    """
    history = fiber_history(source) if isinstance(source, MuscleActivations) else source
    cost = cost or Bhargava2004()
    frames = len(history.time)
    found = np.zeros((len(RATE_NAMES), frames, len(history.muscles)))
    for k, muscle in enumerate(history.records):
        x = ca.SX.sym("x", 7)
        rates = ca.vertcat(*cost.rates(muscle, FiberWork(*ca.vertsplit(x))))
        evaluate = ca.Function("rates", [x], [rates]).map(frames)
        tables = (
            history.excitations, history.activations, history.norm_lengths, history.speeds,
            history.active_forces, history.passive_forces, history.length_factors,
        )  # fmt: skip
        found[:, :, k] = np.asarray(evaluate(np.array([table[:, k] for table in tables])))
    mass = float(history.model.nominal_value(history.model.mass))
    return MetabolicPower(
        history.time,
        history.muscles,
        MuscleMetabolism(*found),
        float(cost.basal_power(mass)),
        mass,
        cost,
    )


@state_function(
    q="nq",
    v="nv",
    activation=lambda model: len(model.muscles),
    excitation=lambda model: len(model.muscles),
    returns=dict.fromkeys(RATE_NAMES, _muscle_count),
    record=MuscleMetabolism,
    checks={**FINITE_STATE, "activation": check_activations, "excitation": check_excitations},
)
def metabolic_rates(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    activation: ArrayInput,
    excitation: ArrayInput,
    cost: MetabolicModel,
    muscle_model: HillModel | None = None,
    wrapping: str = OPENSIM,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> MuscleMetabolism:
    """Metabolic power of all muscles with rigid tendons in given states.

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        activation: (..., muscles), 0 to 1.
        excitation: (..., muscles), 0 to 1.
        cost: The model of metabolic power.
        muscle_model: A muscle-tendon model for all muscles; that of the kind of each by default.
        wrapping: ``"opensim"`` or ``"geodesic"``; see `lengths`.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float arrays that receive the results.

    Returns:
        Powers, W, without that of the body at rest.

    Raises:
        ModelError: The model has no muscles, or one without fibers; or an activation or excitation
            is not a number from 0 to 1.
        KernelError: An array has the wrong shape or type.
    """
    path_lengths, speeds = traced_lengths_and_speeds(model, q, v, wrapping)
    levels: Array = activation
    drives: Array = excitation
    rows: list[tuple[Array, ...]] = []
    for k, (muscle, any_law) in enumerate(
        zip(model.muscles, model_of(model, muscle_model), strict=True)
    ):
        law = hill_law(muscle, any_law)
        along = path_lengths[k] - muscle.tendon_slack_length
        fiber = FiberState.of(muscle, along, speeds[k], law.shortest_fiber_along(muscle))
        rows.append(cost.rates(muscle, fiber_work(muscle, law, drives[k], levels[k], fiber)))
    return MuscleMetabolism(*(ca.vertcat(*column) for column in zip(*rows, strict=True)))


def fiber_work(
    muscle: Muscle, law: HillModel, excitation: Array, activation: Array, fiber: FiberState
) -> FiberWork:
    """What the metabolic power of a muscle depends on.

    Args:
        muscle: Its parameters.
        law: Its muscle-tendon model.
        excitation: 0 to 1.
        activation: 0 to 1.
        fiber: Length, speed and angle of its fibers.
    """
    force = law.fiber_force(muscle, activation, fiber)
    scale = muscle.max_isometric_force
    fastest = muscle.max_contraction_velocity * muscle.optimal_fiber_length
    return FiberWork(
        excitation,
        activation,
        fiber.norm_length,
        fastest * fiber.norm_speed,
        scale * force.active,
        scale * (force.passive + force.damping),
        law.active_force_length(muscle, fiber.norm_length),
    )
