"""Static optimization: the muscle activations that produce the torques of a motion."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from homodyn.dynamics.rnea import passive_force
from homodyn.errors import ModelError
from homodyn.foundation.arguments import require_type
from homodyn.foundation.text import count_of, enumerate_names
from homodyn.motion import Loads, Motion
from homodyn.muscle.capacities import MuscleCapacities, muscle_capacities
from homodyn.muscle.fiber_ranges import fiber_range_sentence, fiber_ranges
from homodyn.muscle.forces import model_of
from homodyn.muscle.models.muscle_model import MuscleModel
from homodyn.muscle.muscle_activations import (
    ActivationStatus,
    MuscleActivations,
    shortage_sentence,
)
from homodyn.muscle.path_equilibrium import PathEquilibrium
from homodyn.muscle.paths import moment_arms
from homodyn.muscle.redundancy.compliant_solver import solve_compliant
from homodyn.muscle.redundancy.frame_solver import SharingSolution, solve_frames
from homodyn.muscle.redundancy.options import (
    MIN_LARGE_RESERVE,
    EmgTargets,
    StaticOptimizationKeywords,
    StaticOptimizationOptions,
)
from homodyn.muscle.redundancy.sharing_problem import (
    MIN_ARM_M,
    SharingProblem,
    activation_bounds,
    check_movement,
    effort_weights,
    emg_costs,
    hidden_coordinates,
    reserve_strengths,
    select_coordinates,
)
from homodyn.muscle.redundancy.smooth_solver import solve_smooth


def static_optimization(
    motion: Motion,
    loads: Loads,
    options: StaticOptimizationOptions | None = None,
    *,
    emg: EmgTargets | None = None,
    muscle_model: MuscleModel | None = None,
    **keywords: Unpack[StaticOptimizationKeywords],
) -> MuscleActivations:
    """Activations with the least effort whose muscles produce the torques of a motion.

    In every frame, sum of activation ** p plus sum of (reserve / strength) ** 2 is smallest such
    that the muscles and reserves produce the torques of all coordinates, and activations are
    within their bounds. The muscles get the torques of the loads without those of the springs and
    dampers of coordinates and, with passive fibers, without those of the stretched fibers.
    The program is convex; all frames are solved at once by an interior-point method.

    Muscles that act on a coordinate that no marker shows have no result.

    Args:
        motion: The movement.
        loads: Its torques, as from `homodyn.capture.inverse_dynamics`.
        options: Effort, muscles, bounds and reserves.
        emg: Measured activations to take into account.
        muscle_model: A muscle-tendon model for all muscles; that of the kind of each by default.
        keywords: Fields of `StaticOptimizationOptions`, instead of ``options``.

    Returns:
        Activations, forces, reserves, and a status by frame.

    Raises:
        ModelError: The model has no muscles, or there is no muscle model for the kind of some.
        HomodynError: A coordinate or torque is NaN, or an option does not fit the model.
    """
    require_type("motion", motion, Motion)
    require_type("loads", loads, Loads)
    options = replace(options or StaticOptimizationOptions(), **keywords)
    model = motion.model
    if not model.muscles:
        raise ModelError(
            f"model {model.name!r} has no muscles, so its torques cannot be shared among them; "
            "muscles are read from .osim files"
        )
    check_movement(motion, loads)
    setup = _set_up(motion, replace(loads, motion=motion), options, emg, muscle_model)
    problem = setup.problem
    if options.tendon == "compliant":
        result = _solve_with_tendons(motion, setup, options, muscle_model)
    elif options.smoothness and motion.frames > 1:
        solution = solve_smooth(problem, options.smoothness, motion.time)
        result = _result(setup, solution, options)
    else:
        result = _result(setup, solve_frames(problem), options)
    if not result.fiber_lengths.size:
        return result
    return replace(result, notes=(*result.notes, fiber_range_sentence(fiber_ranges(result))))


@dataclass(frozen=True)
class _Setup:
    """The program of a motion and what its result needs besides."""

    loads: Loads
    problem: SharingProblem
    capacities: MuscleCapacities
    kept: list[int]
    columns: list[int]
    notes: tuple[str, ...]


def _set_up(
    motion: Motion,
    loads: Loads,
    options: StaticOptimizationOptions,
    emg: EmgTargets | None,
    muscle_model: MuscleModel | None,
) -> _Setup:
    model = motion.model
    capacities = _capacities(motion, options, muscle_model)
    columns, unactuated = select_coordinates(model, loads, capacities.moment_arms, options)
    kept, hidden, idle = _observed_muscles(motion, capacities.moment_arms, columns)
    coordinates = tuple(model.coordinate_names[k] for k in columns)
    muscles = tuple(model.muscles[k].name for k in kept)
    arms = capacities.moment_arms[:, kept][:, :, columns]
    arms = np.where(np.abs(arms).max(axis=0) > MIN_ARM_M, arms, 0.0)
    passive = capacities.passive[:, kept]
    tau = (loads.tau - passive_force(model, motion.q, motion.v))[:, columns]
    lower, upper = activation_bounds(muscles, options)
    weights = effort_weights(model, kept, options.weights)
    effort, pull, target = emg_costs(emg, muscles, weights, motion.frames)
    problem = SharingProblem(
        muscles=muscles,
        coordinates=coordinates,
        torques=capacities.active[:, kept, None] * arms,
        loads=tau - np.einsum("fmc,fm->fc", arms, passive),
        lower=lower,
        upper=upper,
        weight=effort,
        pull=pull,
        target=target,
        strength=reserve_strengths(coordinates, options.reserves),
        power=float(options.power),
    )
    names = [muscle.name for muscle in model.muscles]
    notes = _notes(unactuated, [names[k] for k in hidden], [names[k] for k in idle])
    return _Setup(loads, problem, capacities, kept, columns, notes)


def _capacities(
    motion: Motion, options: StaticOptimizationOptions, muscle_model: MuscleModel | None
) -> MuscleCapacities:
    model = motion.model
    if options.force_length_velocity:
        laws = tuple(model_of(model, muscle_model))
        found = muscle_capacities(model, motion.q, motion.v, laws, options.wrapping)
        if options.passive_fibers:
            return found
        return replace(found, passive=np.zeros_like(found.passive))
    arms = moment_arms(model, motion.q, options.wrapping)
    strengths = np.array([float(muscle.max_isometric_force) for muscle in model.muscles])
    shape = (motion.frames, len(strengths))
    nothing = np.zeros((0, 0))
    return MuscleCapacities(
        arms, np.broadcast_to(strengths, shape), np.zeros(shape), nothing, nothing
    )


def _observed_muscles(
    motion: Motion, arms: np.ndarray, columns: list[int]
) -> tuple[list[int], list[int], list[int]]:
    """Muscles that act on a chosen coordinate, without and with an arm about one not observed.

    The third are the muscles that act on no chosen coordinate.
    """
    model = motion.model
    hidden = {
        k
        for k, name in enumerate(model.coordinate_names)
        if name in hidden_coordinates(motion) and name in motion.unobserved
    }
    moves = np.abs(arms).max(axis=0) > MIN_ARM_M
    acting = [k for k in range(len(model.muscles)) if moves[k, columns].any()]
    unknown = [k for k in range(len(model.muscles)) if any(moves[k, entry] for entry in hidden)]
    kept = [k for k in acting if k not in unknown]
    if not kept:
        raise ModelError(
            f"model {model.name!r} has no muscle whose coordinates are all known: "
            f"{enumerate_names([model.muscles[k].name for k in unknown])} act on coordinates that "
            "no marker shows"
        )
    return kept, unknown, [k for k in range(len(model.muscles)) if k not in (*acting, *unknown)]


def _notes(unactuated: tuple[str, ...], hidden: list[str], idle: list[str]) -> tuple[str, ...]:
    notes: tuple[str, ...] = ()
    if unactuated:
        notes += (
            f"no muscle moves {count_of(len(unactuated), 'coordinate')}, whose torques are left "
            f"out: {enumerate_names(unactuated)}",
        )
    if hidden:
        notes += (
            f"{count_of(len(hidden), 'muscle')} act on coordinates that no marker shows and have "
            f"no result; others take over their share: {enumerate_names(hidden)}",
        )
    if idle:
        notes += (
            f"{count_of(len(idle), 'muscle')} without a moment arm about any of these coordinates "
            f"and so without a result: {enumerate_names(idle)}",
        )
    return notes


def _solve_with_tendons(
    motion: Motion,
    setup: _Setup,
    options: StaticOptimizationOptions,
    muscle_model: MuscleModel | None,
) -> MuscleActivations:
    """The result with tendons in equilibrium with their fibers."""
    model, kept = motion.model, setup.kept

    paths = PathEquilibrium(model, motion.q, motion.v, kept, muscle_model, options.wrapping)
    arms = setup.capacities.moment_arms[:, kept][:, :, setup.columns]
    passive = setup.capacities.passive[:, kept]
    loads = setup.problem.loads + np.einsum("fmc,fm->fc", arms, passive)
    solution = solve_compliant(
        replace(setup.problem, loads=loads), arms, lambda a, frames: paths.at(a, frames).forces
    )
    found, none = paths.at(solution.activations), paths.at(np.zeros_like(solution.activations))
    optimal = np.array([float(model.muscles[k].optimal_fiber_length) for k in kept])
    return replace(
        _result(setup, solution, options),
        forces=found.forces,
        passive_forces=none.forces,
        fiber_lengths=found.fiber_length / optimal,
    )


def _result(
    setup: _Setup, solution: SharingSolution, options: StaticOptimizationOptions
) -> MuscleActivations:
    problem, capacities, kept = setup.problem, setup.capacities, setup.kept
    passive = capacities.passive[:, kept]
    forces = passive + capacities.active[:, kept] * solution.activations
    has_fibers = capacities.norm_lengths.size > 0
    result = MuscleActivations(
        loads=setup.loads,
        muscles=problem.muscles,
        coordinates=problem.coordinates,
        activations=solution.activations,
        forces=forces,
        passive_forces=passive,
        reserves=solution.reserves,
        moment_arms=capacities.moment_arms[:, kept][:, :, setup.columns],
        status=_status(setup, solution, options),
        residual=solution.residual,
        optimality=solution.optimality,
        objective=problem.objective(solution.activations, solution.reserves),
        iterations=solution.iterations,
        fiber_lengths=capacities.norm_lengths[:, kept] if has_fibers else np.zeros((0, 0)),
        fiber_speeds=capacities.norm_speeds[:, kept] if has_fibers else np.zeros((0, 0)),
        strengths=problem.strength,
        method=options.sentence,
    )
    notes = setup.notes
    short = np.flatnonzero(result.status == ActivationStatus.INFEASIBLE)
    if len(short):
        notes += (
            f"{count_of(len(short), 'frame')} beyond the strength of the muscles: "
            + shortage_sentence(result, int(short[0])),
        )
    return replace(result, notes=notes)


def _status(
    setup: _Setup, solution: SharingSolution, options: StaticOptimizationOptions
) -> np.ndarray:
    """The status of every frame; unknown loads come first."""
    valid = setup.loads.valid
    tau = np.abs(setup.loads.tau[:, setup.columns])
    peak = tau[valid].max(axis=0) if valid.any() else tau.max(axis=0)
    limit = np.maximum(options.max_reserve * peak, MIN_LARGE_RESERVE)
    large = (np.abs(solution.reserves) > limit).any(axis=1)
    status = np.full(len(valid), ActivationStatus.SOLVED, dtype=object)
    status[large] = ActivationStatus.RESERVES
    status[~solution.solved] = ActivationStatus.NOT_CONVERGED
    status[solution.infeasible] = ActivationStatus.INFEASIBLE
    status[~valid] = ActivationStatus.LOADS_UNKNOWN
    return status
