"""States, forces, power and work of the fibers of muscles over a movement."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from homodyn.errors import ModelError
from homodyn.foundation.record import record
from homodyn.foundation.text import count_of
from homodyn.foundation.time_series import Curve, TimeSeries
from homodyn.model import Model
from homodyn.model.muscles import Muscle
from homodyn.motion import Motion
from homodyn.muscle.activation_levels import check_levels
from homodyn.muscle.forces import model_of, traced_lengths_and_speeds
from homodyn.muscle.geometry.tangent_rule import OPENSIM
from homodyn.muscle.models.muscle_model import FiberState, HillModel
from homodyn.muscle.muscle_activations import MuscleActivations
from homodyn.spatial import Array
from homodyn.symbolic import kernel


@record
class FiberHistory(TimeSeries):
    """Fibers of muscles over time, (frames, muscles) each.

    Columns are named ``<muscle> fiber length`` (in optimal fiber lengths), ``<muscle> active
    force`` (N), ``<muscle> passive force`` (N) and ``<muscle> power`` (W).
    """

    model: Model
    time: np.ndarray
    """(frames,), s."""
    muscles: tuple[str, ...]
    excitations: np.ndarray
    """0 to 1."""
    activations: np.ndarray
    """0 to 1."""
    norm_lengths: np.ndarray
    """In optimal fiber lengths."""
    norm_speeds: np.ndarray
    """In largest contraction speeds, positive where fibers lengthen."""
    active_forces: np.ndarray
    """N, along the fibers."""
    passive_forces: np.ndarray
    """N, of the stretched fibers and their damping."""
    length_factors: np.ndarray
    """Active force-length curve."""

    @cached_property
    def records(self) -> tuple[Muscle, ...]:
        """Parameters of the muscles."""
        known = {muscle.name: muscle for muscle in self.model.muscles}
        return tuple(known[name] for name in self.muscles)

    @cached_property
    def speeds(self) -> np.ndarray:
        """m/s, positive where fibers lengthen."""
        fastest = [m.max_contraction_velocity * m.optimal_fiber_length for m in self.records]
        return np.asarray(self.norm_speeds * np.array(fastest, dtype=float))

    @property
    def powers(self) -> np.ndarray:
        """Mechanical power of the active elements, W; positive where they do work."""
        return np.asarray(-self.active_forces * self.speeds)

    @property
    def fiber_powers(self) -> np.ndarray:
        """Power of the fibers with their passive elements, W."""
        return np.asarray(-(self.active_forces + self.passive_forces) * self.speeds)

    @property
    def positive_work(self) -> np.ndarray:
        """Work of the active elements while they shorten, (muscles,), J."""
        return np.asarray(np.trapezoid(np.maximum(self.powers, 0), self.time, axis=0))

    @property
    def negative_work(self) -> np.ndarray:
        """Work of the active elements while they lengthen, (muscles,), J; not positive."""
        return np.asarray(np.trapezoid(np.minimum(self.powers, 0), self.time, axis=0))

    def headline(self) -> str:
        """Model, muscles and work."""
        return (
            f"FiberHistory of {self.model.name!r}: {count_of(len(self.muscles), 'muscle')}, "
            f"{count_of(len(self.time), 'frame')}, work {self.positive_work.sum():+.3g} and "
            f"{self.negative_work.sum():+.3g} J"
        )

    @cached_property
    def _columns(self) -> dict[str, Curve]:
        tables = {
            "fiber length": ("", self.norm_lengths),
            "active force": ("N", self.active_forces),
            "passive force": ("N", self.passive_forces),
            "power": ("W", self.powers),
        }
        return {
            f"{name} {what}": Curve(f"{name} {what}", unit, self.time, table[:, k])
            for what, (unit, table) in tables.items()
            for k, name in enumerate(self.muscles)
        }

    def columns(self) -> Mapping[str, Curve]:
        """Lengths, forces and powers by name.

        Returns:
            Curves by name.
        """
        return self._columns


def fiber_history(
    source: Motion | MuscleActivations,
    activations: ArrayLike | None = None,
    excitations: ArrayLike | None = None,
    *,
    muscle_model: HillModel | None = None,
    wrapping: str = OPENSIM,
) -> FiberHistory:
    """States and forces of the fibers of all muscles over a movement.

    Args:
        source: The result of static optimization, or a motion whose tendons are taken as rigid.
        activations: (frames, muscles) or numbers that fit, for a motion.
        excitations: (frames, muscles) or numbers that fit; the activations when left out.
        muscle_model: A model for all muscles; that of the kind of each by default.
        wrapping: ``"opensim"`` or ``"geodesic"``; see `homodyn.muscle.lengths`.

    Returns:
        Lengths, speeds, forces, and with them power and work.

    Raises:
        ModelError: Activations are missing, superfluous or not from 0 to 1; the result has no fiber
            lengths; or a muscle has a model without fibers.
    """
    if isinstance(source, MuscleActivations):
        if activations is not None:
            raise ModelError("activations are those of static optimization; leave them out")
        if not source.fiber_lengths.size:
            raise ModelError(
                "these activations have no fiber lengths: they were computed with "
                "force_length_velocity=False"
            )
        model, time, names = source.loads.motion.model, source.time, source.muscles
        levels = source.activations
        lengths, speeds = source.fiber_lengths, source.fiber_speeds
    else:
        model, time = source.model, source.time
        names = tuple(muscle.name for muscle in model.muscles)
        if activations is None:
            raise ModelError("activations of the muscles of a motion are needed")
        levels = _levels(activations, (len(time), len(names)), names, "activation")
        lengths, speeds = _rigid_fibers(source, muscle_model, wrapping)
    driven = levels
    if excitations is not None:
        driven = _levels(excitations, levels.shape, names, "excitation")
    laws = dict(zip([m.name for m in model.muscles], model_of(model, muscle_model), strict=True))
    chosen = [m for m in model.muscles if m.name in names]
    chosen.sort(key=lambda muscle: names.index(muscle.name))
    active, passive, factors = (np.zeros(lengths.shape) for _ in range(3))
    for k, muscle in enumerate(chosen):
        law = hill_law(muscle, laws[muscle.name])
        x = ca.SX.sym("x", 3)
        force = law.fiber_force(muscle, x[0], FiberState(x[1], x[2], ca.SX(1.0)))
        scale = muscle.max_isometric_force
        factor = law.active_force_length(muscle, x[1])
        parts = ca.vertcat(scale * force.active, scale * (force.passive + force.damping), factor)
        evaluate = ca.Function("fiber_force", [x], [parts]).map(len(time))
        found = np.asarray(evaluate(np.array([levels[:, k], lengths[:, k], speeds[:, k]])))
        active[:, k], passive[:, k], factors[:, k] = found
    return FiberHistory(
        model, time, names, driven, levels, lengths, speeds, active, passive, factors
    )


def hill_law(muscle: Muscle, law: object) -> HillModel:
    """The model of a muscle, which must have fibers.

    Args:
        muscle: The muscle.
        law: Its model.

    Raises:
        ModelError: It has none.
    """
    if not isinstance(law, HillModel):
        raise ModelError(
            f"muscle {muscle.name!r}: {type(law).__name__} has no fibers; models derived from "
            "HillModel have"
        )
    return law


def _levels(
    given: ArrayLike, shape: tuple[int, ...], names: tuple[str, ...], what: str
) -> np.ndarray:
    levels = np.asarray(given, dtype=float)
    try:
        levels = np.broadcast_to(levels, shape)
    except ValueError:
        raise ModelError(
            f"{what}s have shape {levels.shape}; {shape[0]} frames of {shape[1]} muscles are needed"
        ) from None
    check_levels(levels, names, what)
    return levels


def _rigid_fibers(
    motion: Motion, muscle_model: HillModel | None, wrapping: str
) -> tuple[np.ndarray, np.ndarray]:
    """Lengths and speeds of fibers whose tendons keep their slack lengths."""
    model = motion.model
    laws = model_of(model, muscle_model)
    count = len(model.muscles)

    def fibers(q: Array, v: Array) -> tuple[Array, Array]:
        paths = traced_lengths_and_speeds(model, q, v, wrapping)
        found = []
        for muscle, law, length, speed in zip(model.muscles, laws, *paths, strict=True):
            shortest = hill_law(muscle, law).shortest_fiber_along(muscle)
            along = length - muscle.tendon_slack_length
            found.append(FiberState.of(muscle, along, speed, shortest))
        return (
            ca.vertcat(*[fiber.norm_length for fiber in found]),
            ca.vertcat(*[fiber.norm_speed for fiber in found]),
        )

    sizes = {"lengths": count, "speeds": count}
    evaluate = kernel(fibers, {"q": model.nq, "v": model.nv}, outputs=sizes, name="fibers")
    lengths, speeds = evaluate(q=motion.q, v=motion.v)
    return np.asarray(lengths), np.asarray(speeds)
