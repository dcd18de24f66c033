"""Electrically stimulated muscles as actuation, with impulses that are given or computed.

The states of a muscle are the stiffness and the force of its contractile element; see
`homodyn.muscle.stimulation`.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation import Record, record, unknown_name
from homodyn.foundation.text import count_of, enumerate_names
from homodyn.model import Model
from homodyn.muscle.geometry.path_lines import moment_arm_entries
from homodyn.muscle.geometry.tangent_rule import GEODESIC
from homodyn.muscle.path_faults import check_moved
from homodyn.muscle.paths import lengths, traced_paths
from homodyn.muscle.stimulation.calcium_muscle import (
    CALCIUM_KIND,
    CalciumMuscle,
    CalciumState,
    Stimulus,
)
from homodyn.muscle.stimulation.command_signal import CommandSignal, recruitment_rate
from homodyn.muscle.stimulation.impulse_train import ImpulseTrain
from homodyn.simulate.actuation import Actuation, ActuationInput, ActuationLoad
from homodyn.simulate.muscle_actuation import ENERGY_STATES
from homodyn.simulate.result import SimulationResult
from homodyn.spatial import Array

LAW = CalciumMuscle()


@record
class StimulatedMuscles(Record, Actuation):
    """Calcium muscles that impulses of a stimulator drive."""

    impulses: ImpulseTrain | str
    """Impulses at given times, or the name of a signal: `homodyn.simulate.signals.ImpulseSchedule`
    or `homodyn.simulate.signals.StimulationControl`."""
    command: CommandSignal = CommandSignal()
    """Levels and times of the command; that of the signal where there is one."""
    wrapping: str = GEODESIC
    """``"geodesic"``, whose moment arms are exact derivatives so that energy balances, or
    ``"opensim"``."""

    def state_names(self, model: Model) -> tuple[str, ...]:
        """Stiffness and force of the contractile elements by muscle, then `ENERGY_STATES`."""
        names = [f"{one.name} {state}" for one in model.muscles for state in LAW.state_names]
        return (*names, *ENERGY_STATES)

    def initial_state(
        self, model: Model, q: np.ndarray, v: np.ndarray, parameters: np.ndarray | None
    ) -> np.ndarray:
        """Relaxed muscles.

        Raises:
            ModelError: A muscle is of another kind, no coordinate moves it, or there is not one
                charge per muscle.
        """
        check_calcium_muscles(model)
        if isinstance(self.impulses, ImpulseTrain):
            self._check_count(model, np.asarray(self.impulses.charges).shape[1])
        check_moved(model, self.wrapping)
        return np.zeros(len(self.state_names(model)))

    def break_times(self) -> np.ndarray:
        """Times at which given impulses begin and end to act, and the command is relaxed (s)."""
        if not isinstance(self.impulses, ImpulseTrain):
            return np.zeros(0)
        command = self.command
        ends = np.cumsum([command.delay_s, command.stimulation_time_s, command.relaxation_time_s])
        return np.unique(np.asarray(self.impulses.time)[:, None] + ends)

    def load(self, at: ActuationInput) -> ActuationLoad:
        """Generalized forces of all muscles, and the rates of their states.

        Args:
            at: Time, state, batch parameters and step.

        Returns:
            Torques and rates.

        Raises:
            ModelError: The signal is unknown, or its size does not fit.
        """
        model = at.model
        frames, paths = traced_paths(model, at.q, self.wrapping, "muscles")
        torque: Array = ca.SX.zeros(model.nv)
        rates: list[Array] = []
        energy: Array = ca.SX.zeros(len(ENERGY_STATES))
        stimuli = self._stimuli(at)
        for k, (muscle, path) in enumerate(zip(model.muscles, paths, strict=True)):
            arms = moment_arm_entries(frames, path)
            speed = sum((-arm * at.v[entry] for entry, arm in arms.items()), start=ca.SX(0))
            state = CalciumState(at.state[2 * k], at.state[2 * k + 1])
            found = LAW.rates(muscle, state, stimuli[k], path.length, speed)
            rates += [found.stiffness, found.force]
            parallel = LAW.parallel_force(muscle, LAW.strain(muscle, path.length))
            shortening = -muscle.optimal_fiber_length * found.strain
            active = state.force * shortening
            series = state.force * (speed + shortening)
            energy = energy + ca.vertcat(active, 0.0, parallel * speed, series)
            for entry, arm in arms.items():
                torque[entry] += arm * (state.force + parallel)
        return ActuationLoad(torque, [], ca.vertcat(*rates, energy))

    def _stimuli(self, at: ActuationInput) -> list[Stimulus]:
        count = len(at.model.muscles)
        if isinstance(self.impulses, ImpulseTrain):
            begun, charge = self.impulses.last_impulses(at.t, self.command.delay_s)
        else:
            if self.impulses not in at.batch:
                message = unknown_name("signal", self.impulses, at.batch)
                raise ModelError(f"impulses of stimulated muscles: {message}")
            column = ca.SX(at.batch[self.impulses])
            self._check_count(at.model, column.numel() / 2)
            begun, charge = column[:count], column[count:]
        return [
            Stimulus(self.command.level(at.t - begun[k]), recruitment_rate(charge[k]))
            for k in range(count)
        ]

    def _check_count(self, model: Model, given: float) -> None:
        if given != len(model.muscles):
            raise ModelError(
                f"impulses have charges for {given:g} muscles; model {model.name!r} has "
                f"{len(model.muscles)}: {', '.join(one.name for one in model.muscles)}"
            )


def check_calcium_muscles(model: Model) -> None:
    """Refuse models whose muscles cannot be stimulated.

    Args:
        model: The model.

    Raises:
        ModelError: The model has no muscles, or some are not of the kind `CALCIUM_KIND`.
    """
    if not model.muscles:
        raise ModelError(
            f"model {model.name!r} has no muscles; homodyn.muscle.stimulation.add_knee_muscles "
            "adds them"
        )
    others = [repr(one.name) for one in model.muscles if one.kind != CALCIUM_KIND]
    if others:
        raise ModelError(
            f"model {model.name!r}: {enumerate_names(others)} cannot be stimulated; muscles of the "
            f"kind {CALCIUM_KIND} are accepted"
        )


@record
class StimulationRecord(Record):
    """What happened in stimulated muscles during a simulation, (samples, muscles) each."""

    time: np.ndarray
    """(samples,), s."""
    muscles: tuple[str, ...]
    phases: np.ndarray
    """`homodyn.muscle.stimulation.CalciumPhase`: 2, 1 or 0."""
    levels: np.ndarray
    """Command, 1/s."""
    recruitment: np.ndarray
    """Recruitment rate of the impulse that acts, 0 to 1; 0 where none acts."""
    stiffness: np.ndarray
    """k_c, N/m."""
    contractile_forces: np.ndarray
    """F_c, N."""
    forces: np.ndarray
    """Forces of the muscles, N."""
    uniqueness_margins: np.ndarray
    """k_s L_c0 + k_c L_c0 - F_c, N; positive where the rates have one solution."""

    def headline(self) -> str:
        """Muscles, duration and largest force."""
        return (
            f"StimulationRecord: {count_of(len(self.muscles), 'muscle')}, "
            f"{self.time[-1] - self.time[0]:g} s, largest force {self.forces.max():.0f} N"
        )


def stimulation_record(result: SimulationResult, actuation: StimulatedMuscles) -> StimulationRecord:
    """Commands, recruitment and forces of the stimulated muscles of a simulation.

    Args:
        result: What `homodyn.simulate.run` returned.
        actuation: The actuation that drove it.

    Returns:
        Their histories at the recorded times.

    Raises:
        ModelError: The simulation had no such actuation.
    """
    model, time = result.model, result.time
    names = tuple(one.name for one in model.muscles)
    missing = [n for n in actuation.state_names(model) if n not in result.actuator_states]
    if not names or missing:
        raise ModelError("the simulation had no stimulated muscles")
    t = ca.SX.sym("t")
    begun, charge = ca.SX.sym("begun", len(names)), ca.SX.sym("charge", len(names))
    if isinstance(actuation.impulses, ImpulseTrain):
        last = ca.vertcat(*actuation.impulses.last_impulses(t, actuation.command.delay_s))
        columns = np.asarray(ca.Function("last", [t], [last]).map(len(time))(time[None])).T
    else:
        columns = result.signals[actuation.impulses].reshape(len(time), -1)
    command = actuation.command
    phase, level = command.phase(t - begun), command.level(t - begun)
    acts = ca.if_else(phase > 0, recruitment_rate(charge), 0.0)
    evaluate = ca.Function("history", [t, begun, charge], [phase, level, acts])
    split = columns[:, : len(names)], columns[:, len(names) :]
    phases, levels, recruitment = (
        np.asarray(x).T for x in evaluate.map(len(time))(time[None], split[0].T, split[1].T)
    )
    stiffness, force = (
        np.stack([result.actuator_states[f"{n} {state}"] for n in names], axis=1)
        for state in LAW.state_names
    )
    path_lengths = lengths(model, result.q, actuation.wrapping)
    totals, margins = np.zeros_like(force), np.zeros_like(force)
    for k, muscle in enumerate(model.muscles):
        state = CalciumState(stiffness[:, k], force[:, k])
        totals[:, k] = np.asarray(LAW.total_force(muscle, state, path_lengths[:, k])).ravel()
        margins[:, k] = np.asarray(LAW.uniqueness_margin(muscle, state)).ravel()
    return StimulationRecord(
        time, names, phases, levels, recruitment, stiffness, force, totals, margins
    )
