"""Stored steps, from which the synthesis of a new step starts.

They were computed from one step of the synthetic walk and, one from another, refined until the
integration defects were below 0.02 rad; ``tools/make_stored_steps.py`` regenerates the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from homodyn.dynamics import row_names
from homodyn.errors import FormatError
from homodyn.foundation.record import Record, record
from homodyn.gait.synthesis.problem import (
    STEP_PHASES,
    WALKING_OBJECTIVES,
    WalkingObjective,
    phase_name,
)
from homodyn.optimal import PhaseSolution, Problem
from homodyn.optimal.solve.interpolation import has_constant_controls
from homodyn.optimal.solve.warm_start import with_initial_guess

FILE = "stored_steps.npz"
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
    """What it was optimized for; None for the synthetic walk."""

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
        """A problem with this step as its initial guess.

        Args:
            problem: The problem of a step.

        Returns:
            A copy of the problem.
        """
        return with_initial_guess(problem, self.phases, self.parameters)


def write_stored_steps(path: str | Path, steps: Mapping[str, StoredStep]) -> None:
    """Store steps by name, in single precision."""
    arrays: dict[str, np.ndarray] = {}
    for name, step in steps.items():
        objective = step.objective.name if step.objective else ""
        arrays[f"{name}|objective"] = np.array(objective)
        arrays[f"{name}|parameters"] = np.array(list(step.parameters))
        arrays[f"{name}|values"] = np.array(list(step.parameters.values()))
        for k, phase in enumerate(step.phases):
            for quantity in QUANTITIES:
                values = np.asarray(getattr(phase, quantity), dtype=np.float32)
                arrays[f"{name}|{k}|{quantity}"] = values
    path = Path(path)
    beside = path.with_name(f".{path.name}.part")
    with beside.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    beside.replace(path)


def read_stored_steps(path: str | Path) -> dict[str, StoredStep]:
    """Stored steps by name."""
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
        steps[name] = StoredStep(name, tuple(phases), parameters, WALKING_OBJECTIVES.get(objective))
    return steps


@cache
def stored_steps() -> Mapping[str, StoredStep]:
    """The bundled steps: ``"walk"`` (the synthetic walk), and optimal ones by objective and speed.

    Returns:
        Steps by name.
    """
    return read_stored_steps(Path(str(files("homodyn.gait.synthesis").joinpath(FILE))))


def nearest_stored_step(objective: WalkingObjective, speed: float | None) -> StoredStep:
    """The stored step with the same objective, or the mixed one, and the nearest speed."""
    steps = stored_steps().values()
    similar = [step for step in steps if step.objective == objective]
    similar = similar or [step for step in steps if step.objective == WALKING_OBJECTIVES["mixed"]]
    similar = similar or list(steps)
    free = [step for step in similar if step.name.endswith("free")]
    if speed is None:
        return (free or similar)[0]
    return min(similar, key=lambda step: abs(step.speed - speed))
