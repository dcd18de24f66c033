"""Stored steps, from which the synthesis of a new step starts.

The first one was computed from a step of the synthetic walk, the others from each other, with mesh
refinement until the integration defects were below 0.02 rad and with the friction cones of
`ground_contact`. ``tools/make_stored_steps.py`` regenerates the file.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from homodyn.dynamics.constraints import row_names
from homodyn.errors import FormatError
from homodyn.foundation.files import write_bytes
from homodyn.foundation.guarded_read import guarded_reader
from homodyn.foundation.record import Record, record
from homodyn.gait.synthesis.problem import (
    STEP_PHASES,
    WALKING_OBJECTIVES,
    WalkingObjective,
    hip_height,
    phase_name,
)
from homodyn.model import Model
from homodyn.optimal import PhaseSolution, Problem
from homodyn.optimal.solve.interpolation import has_constant_controls
from homodyn.optimal.solve.warm_start import with_initial_guess

FILE = "stored_steps.npz"
STORED_HIP_HEIGHT_M, STORED_MASS_KG = 0.970538, 76.0
"""Hip height and mass of `walking_model`, the body that the stored steps were computed for."""
MIN_SCALE_CHANGE = 1e-3
"""Smaller relative differences of size and mass are not scaled."""
QUANTITIES = ("time", "q", "v", "control_time", "a", "tau", "force", "impulse")


@record
class StoredStep(Record):
    """A step: its phases, its parameters, and its objective."""

    name: str
    """Name of the step, such as ``"mixed free"``."""
    phases: tuple[PhaseSolution, ...]
    """Trajectories of the four phases."""
    parameters: Mapping[str, float]
    """Step length (m), speed (m/s) and spring parameters."""
    objective: WalkingObjective | None
    """The objective that it minimizes; None for the synthetic walk."""
    hip_height: float = STORED_HIP_HEIGHT_M
    """Height of the pelvis of its body in the neutral pose (m)."""
    mass: float = STORED_MASS_KG
    """Mass of its body (kg)."""
    friction: float | None = None
    """Coefficient of friction that bounded its forces and impulses; None where nothing did."""
    status: str = ""
    """How its solve ended, a value of `SolveStatus`; empty where that is not known."""

    def headline(self) -> str:
        """Name, speed and duration."""
        return f"StoredStep {self.name!r}: {self.speed:.3f} m/s, {self.duration:.3f} s"

    @property
    def speed(self) -> float:
        """Walking speed (m/s)."""
        return float(self.parameters["speed"])

    @property
    def duration(self) -> float:
        """Duration of the step (s)."""
        return float(self.phases[-1].time[-1])

    @property
    def intervals(self) -> tuple[int, ...]:
        """Number of intervals of each phase."""
        return tuple(phase.intervals for phase in self.phases)

    @property
    def transcription(self) -> str:
        """The transcription that it was computed with."""
        return "midpoint" if has_constant_controls(self.phases[0]) else "collocation"

    def warm_start(self, problem: Problem) -> Problem:
        """A problem with this step, scaled to its model, as the initial guess.

        Args:
            problem: The problem of a step.

        Returns:
            A copy of the problem.
        """
        scaled = self.scale_to(problem.model)
        return with_initial_guess(problem, scaled.phases, scaled.parameters)

    def scale_to(self, model: Model) -> StoredStep:
        """The step of a similar body of another size and mass.

        Bodies of similar shape walk similarly at equal Froude numbers: lengths are scaled by the
        hip height ratio l, times by sqrt(l), forces by the mass ratio m, and torques by m l.

        Args:
            model: The other body.

        Returns:
            The scaled step; this one where size and mass are the same.
        """
        length, mass = hip_height(model) / self.hip_height, float(model.mass) / self.mass
        if abs(length - 1) < MIN_SCALE_CHANGE and abs(mass - 1) < MIN_SCALE_CHANGE:
            return self
        time = np.sqrt(length)
        root = [model.coordinate_index(f"Pelvis_T{axis}") for axis in "XYZ"]
        sizes = np.ones(model.nv)
        sizes[root] = length
        torques = np.full(model.nv, mass * length)
        torques[root] = mass
        phases = tuple(
            replace(
                phase,
                time=phase.time * time,
                control_time=phase.control_time * time,
                q=phase.q * sizes,
                v=phase.v * sizes / time,
                a=phase.a * sizes / time**2,
                tau=phase.tau * torques,
                force=phase.force * mass,
                impulse=phase.impulse * mass * time,
            )
            for phase in self.phases
        )
        factors = {
            "length": length,
            "speed": length / time,
            "stiffness": mass * length,
            "damping": mass * length * time,
        }
        parameters = {
            name: value * factors.get(name.rpartition(" ")[2], 1.0)
            for name, value in self.parameters.items()
        }
        return replace(
            self,
            phases=phases,
            parameters=parameters,
            hip_height=hip_height(model),
            mass=float(model.mass),
        )


def write_stored_steps(path: str | Path, steps: Mapping[str, StoredStep]) -> None:
    """Write steps by name, in single precision.

    Args:
        path: The .npz file to write.
        steps: Steps of the reference body by name.

    Raises:
        FormatError: The file cannot be written.
    """
    arrays: dict[str, np.ndarray] = {}
    for name, step in steps.items():
        objective = step.objective.name if step.objective else ""
        arrays[f"{name}|objective"] = np.array(objective)
        arrays[f"{name}|status"] = np.array(step.status)
        arrays[f"{name}|friction"] = np.array(np.nan if step.friction is None else step.friction)
        arrays[f"{name}|parameters"] = np.array(list(step.parameters))
        arrays[f"{name}|values"] = np.array(list(step.parameters.values()))
        for k, phase in enumerate(step.phases):
            for quantity in QUANTITIES:
                values = np.asarray(getattr(phase, quantity), dtype=np.float32)
                arrays[f"{name}|{k}|{quantity}"] = values
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
    write_bytes(path, stream.getvalue())


@guarded_reader("step library")
def read_stored_steps(path: str | Path) -> dict[str, StoredStep]:
    """Read steps that `write_stored_steps` wrote.

    Args:
        path: The .npz file.

    Returns:
        Steps by name.

    Raises:
        FormatError: The file cannot be read.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
    except (OSError, ValueError) as error:
        raise FormatError(f"stored steps cannot be read: {error}", str(path)) from error
    steps = {}
    for name in dict.fromkeys(key.split("|")[0] for key in arrays):
        phases = []
        for k, contacts in enumerate(STEP_PHASES):
            numbers = {q: arrays[f"{name}|{k}|{q}"].astype(float) for q in QUANTITIES}
            force_names = row_names(contacts.contacts)
            phases.append(PhaseSolution(name=phase_name(k), force_names=force_names, **numbers))
        objective = str(arrays[f"{name}|objective"])
        known = arrays[f"{name}|parameters"].tolist()
        values = arrays[f"{name}|values"].tolist()
        parameters = dict(zip(known, values, strict=True))
        friction = float(arrays[f"{name}|friction"])
        steps[name] = StoredStep(
            name,
            tuple(phases),
            parameters,
            WALKING_OBJECTIVES.get(objective),
            friction=None if np.isnan(friction) else friction,
            status=str(arrays.get(f"{name}|status", "")),
        )
    return steps


@cache
def stored_steps() -> Mapping[str, StoredStep]:
    """The bundled steps: ``"walk"`` (the synthetic walk), and optimal ones by objective and speed.

    Returns:
        Steps by name.
    """
    return read_stored_steps(Path(str(files("homodyn.gait.synthesis").joinpath(FILE))))


def nearest_stored_step(
    objective: WalkingObjective, speed: float | None, model: Model | None = None
) -> StoredStep:
    """The stored step with the same objective, or the mixed one, and the nearest speed.

    Speeds are compared after the steps are scaled to the model.
    """
    steps = stored_steps().values()
    similar = [step for step in steps if step.objective == objective]
    similar = similar or [step for step in steps if step.objective == WALKING_OBJECTIVES["mixed"]]
    similar = similar or list(steps)
    free = [step for step in similar if step.name.endswith("free")]
    if speed is None:
        return (free or similar)[0]

    def scaled_speed(step: StoredStep) -> float:
        return step.speed if model is None else step.scale_to(model).speed

    return min(similar, key=lambda step: abs(scaled_speed(step) - speed))
