"""Execution of a plan: whole-body control tracks it in a simulation with contact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import casadi as ca
import numpy as np

from homodyn import dynamics
from homodyn.control import InfeasibleProgram, WholeBodyController
from homodyn.errors import NoSolution
from homodyn.motion.supports import Support
from homodyn.plan.collision_pairs import obstacle_distances
from homodyn.plan.execution.execution_options import ExecutionOptions
from homodyn.plan.execution.plan_execution import ExecutionStatus, PlanExecution, SupportHold
from homodyn.plan.execution.plan_references import PlanReferences
from homodyn.plan.execution.support_contacts import (
    Interval,
    body_contacts,
    contact_geometry,
    support_forces,
    support_intervals,
)
from homodyn.plan.execution.support_holds import support_holds
from homodyn.plan.motion_plan import MotionPlan
from homodyn.plan.phase_sequence import PhaseSequence
from homodyn.plan.plan_context import PlanContext
from homodyn.simulate import Controller, SimulationResult, SimulationStatus, StateEvent, run

MAX_COM_DEVIATION_M = 0.25
"""Distance of the center of mass from its reference at which the body has fallen."""
MAX_PENETRATION_M = 0.01
"""Depth of a capsule in an obstacle that counts as a collision; limbs are thinner than capsules."""
MAX_SLIP_M = 0.01
"""Slip of a support above which the plan is too fast."""
SLOWER_SPEEDS = (0.8, 0.65, 0.5)
"""Parts of the planned speed that are tried after a fall or a slip."""
RECORD_INTERVAL_S = 0.01

Progress = Callable[[str], None]


def execute(
    plan: MotionPlan,
    *,
    options: ExecutionOptions | None = None,
    progress: Progress | None = None,
) -> PlanExecution:
    """Track a plan in simulation by whole-body control, from its first posture at rest.

    Every 5 ms a `WholeBodyController` gets the state of the simulation and returns torques for the
    center of mass, the feet, the root and the posture of the plan, with contacts by the schedule of
    its supports (Qiu 2012, section 6.4, table 6.1). Soles touch the ground and obstacles that carry
    them by a contact law; grasps and seats are springs within the bounds of their supports. All
    other obstacles are checked by distances.

    Args:
        plan: The plan.
        options: Weights, contact law and speed. Without a speed, slower ones follow a fall
            and slips of more than 1 cm.
        progress: Is called with the name of each step.

    Returns:
        The simulated motion, with the error of the center of mass, slips and clearances.

    Raises:
        ModelError: The contact law or the scene does not fit the model.
    """
    begin = perf_counter()
    chosen = options or ExecutionOptions()
    report = progress or (lambda _: None)
    speeds: Sequence[float] = (1.0, *SLOWER_SPEEDS) if chosen.speed is None else (chosen.speed,)
    notes: list[str] = []
    result: PlanExecution | None = None
    for speed in speeds:
        report(f"execution at {100 * speed:.0f} % of the planned speed")
        attempt = _Attempt(plan, chosen, speed).result(begin, tuple(notes))
        if result is None or attempt.status.success:
            result = attempt
        slips = attempt.status.success and attempt.largest_slip > MAX_SLIP_M
        if not slips and attempt.status is not ExecutionStatus.FELL:
            break
        notes.append(f"At {100 * speed:.0f} % of the planned speed: {attempt.message}")
    assert result is not None
    return result


@dataclass(frozen=True, eq=False)
class _Attempt:
    """One simulation of a plan at one speed."""

    plan: MotionPlan
    options: ExecutionOptions
    speed: float

    def result(self, begin: float, notes: tuple[str, ...]) -> PlanExecution:
        """Simulate and evaluate."""
        plan, options = self.plan, self.options
        references = PlanReferences(plan, options.weights, self.speed)
        sequence = PhaseSequence(PlanContext.of(plan.model, plan.scene), plan.instants)
        end = references.duration + options.settle
        intervals = support_intervals(sequence, self.speed, end)
        controller = WholeBodyController(
            sequence.context.model,
            references.tasks,
            body_contacts(sequence, intervals, options.ramp),
            # Limits of coordinates as hard constraints contradict contacts where a leg is straight;
            # the plan keeps them, and the stops of the simulation act on what tracking leaves.
            limits=(),
            period=options.period,
        )
        failure, simulation = self._simulate(references, sequence, intervals, controller, end)
        com = np.asarray(dynamics.center_of_mass(plan.model, simulation.q))
        reference = references.center_of_mass(simulation.time)
        clearance, closest = _clearance(sequence, simulation, self.speed)
        status, message = _outcome(simulation, failure, com - reference, clearance, closest, end)
        phases = np.searchsorted(plan.instants, references.planned_time(simulation.time)) - 1
        free = [k for k in range(len(sequence.stances)) if not sequence.is_seated(k)]
        balanced = np.isin(np.clip(phases, 0, len(sequence.stances) - 1), free)
        holds = support_holds(sequence, intervals, simulation, options)
        return PlanExecution(
            plan,
            options,
            status,
            f"{message} {_details(com - reference, balanced, holds, controller, self.speed)}",
            self.speed,
            simulation,
            simulation.motion,
            com,
            reference,
            balanced,
            holds,
            clearance,
            closest,
            tuple(controller.relaxed_times),
            perf_counter() - begin,
            notes,
        )

    def _simulate(
        self,
        references: PlanReferences,
        sequence: PhaseSequence,
        intervals: Sequence[tuple[Support, Interval]],
        controller: WholeBodyController,
        end: float,
    ) -> tuple[str, SimulationResult]:
        """The simulation, and why the controller gave up; empty where it did not."""
        model, options = sequence.context.model, self.options
        failure: list[str] = []
        state: dict[str, np.ndarray] = {"tau": np.zeros(model.nv)}

        def torques(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
            if not failure:
                try:
                    state["tau"] = controller(t, q, v)
                except (InfeasibleProgram, NoSolution) as error:
                    failure.append(f"no torques were found at {t:.2f} s: {error}")
            return state["tau"]

        low = float(references.center_of_mass(np.linspace(0, end, 100))[:, 2].min())

        def height(t: object, q: ca.SX, v: ca.SX, batch: object) -> ca.SX:
            return dynamics.center_of_mass(model, q)[2] - (low - MAX_COM_DEVIATION_M)

        simulation = run(
            model,
            references.posture(0.0),
            None,
            end,
            options.step,
            contact=options.contact,
            actuation=Controller(torques, period=options.period),
            scene=contact_geometry(sequence),
            external_forces=support_forces(references, sequence, intervals),
            events=(StateEvent("fall", height, "falling", 1e-6, "end"),),
            record_interval=RECORD_INTERVAL_S,
        )
        return (failure[0] if failure else ""), simulation


def _outcome(
    simulation: SimulationResult,
    failure: str,
    deviation: np.ndarray,
    clearance: np.ndarray,
    closest: str,
    end: float,
) -> tuple[ExecutionStatus, str]:
    """Status, and its sentence."""
    far = np.flatnonzero(np.linalg.norm(deviation, axis=1) > MAX_COM_DEVIATION_M)
    if len(far) or simulation.status is SimulationStatus.ENDED:
        when = simulation.time[far[0]] if len(far) else simulation.time[-1]
        return ExecutionStatus.FELL, f"The body fell at {when:.2f} s of {end:.2f} s."
    if failure:
        return ExecutionStatus.FAILED, failure[0].upper() + failure[1:] + "."
    if simulation.status is not SimulationStatus.FINISHED:
        return ExecutionStatus.FAILED, f"The simulation stopped: {simulation.message}"
    k = int(np.argmin(clearance))
    if clearance[k] < -MAX_PENETRATION_M:
        return ExecutionStatus.COLLIDED, (
            f"{closest} overlap by {-1000 * clearance[k]:.0f} mm at {simulation.time[k]:.2f} s."
        )
    return ExecutionStatus.FINISHED, f"Executed without a fall in {end:.2f} s."


def _details(
    deviation: np.ndarray,
    balanced: np.ndarray,
    holds: Sequence[SupportHold],
    controller: WholeBodyController,
    speed: float,
) -> str:
    """Errors, as further sentences."""
    chosen = np.linalg.norm(deviation[balanced], axis=1)
    rms = 1000 * float(np.sqrt(np.mean(chosen**2))) if len(chosen) else 0.0
    slip = 1000 * max((hold.slip for hold in holds), default=0.0)
    pace = "" if speed == 1 else f"At {100 * speed:.0f} % of the planned speed: center of mass"
    relaxed = len(controller.relaxed_times)
    calls = f" Contacts were relaxed in {relaxed} of {controller.calls} calls." if relaxed else ""
    return f"{pace or 'Center of mass'} within {rms:.1f} mm rms, slips up to {slip:.1f} mm.{calls}"


def _clearance(
    sequence: PhaseSequence, simulation: SimulationResult, speed: float
) -> tuple[np.ndarray, str]:
    """Least distance (samples,) of capsules from what they must not touch, and its pair."""
    context = sequence.context
    distance = obstacle_distances(context.model, simulation.q, context.scene)
    instants = np.asarray(sequence.instants) / speed
    phase = np.clip(np.searchsorted(instants, simulation.time) - 1, 0, len(sequence.stances) - 1)
    for k in np.unique(phase):
        limit = context.limit(sequence.uses(int(k)))
        for j, capsule in enumerate(context.model.capsules):
            for o, obstacle in enumerate(context.scene.obstacles):
                if (capsule.name, obstacle.name) in limit.pair_margins:
                    distance[phase == k, j, o] = np.inf
    flat = distance.reshape(len(distance), -1)
    if not flat.shape[1]:
        return np.full(len(distance), np.inf), ""
    worst = int(np.argmin(flat.min(axis=0)))
    j, o = divmod(worst, len(context.scene.obstacles))
    pair = f"{context.model.capsules[j].name} and {context.scene.obstacles[o].name}"
    return np.asarray(flat.min(axis=1)), pair
