"""Steps that the search for a new one begins from, stored with the program.

They came from the synthetic walk of ``hd.gait``, one step of it as it can have been, and from there
the steps of the thesis, each sought from another until its intervals arrive within 0.02 rad of
their nodes; ``tools/make_stored_steps.py`` makes such a file anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from homodyn.dynamics import row_names
from homodyn.errors import FormatError
from homodyn.gait.synthesis.problem import FOOTINGS, OBJECTIVES, Objective, phase_name
from homodyn.optimal.inside import held
from homodyn.optimal.problem import Problem
from homodyn.optimal.solution import PhaseSolution
from homodyn.optimal.warm import with_guess

FILE = "stored_steps.npz"
QUANTITIES = ("time", "q", "v", "control_time", "a", "tau", "force", "impulse")


@dataclass(frozen=True, eq=False)
class StoredStep:
    """A step: its phases, its parameters, and what it was best at (nothing: a walk)."""

    name: str
    phases: tuple[PhaseSolution, ...]
    parameters: Mapping[str, float]
    objective: Objective | None

    @property
    def speed(self) -> float:
        """m/s."""
        return float(self.parameters["speed"])

    @property
    def duration(self) -> float:
        """Of the step (s)."""
        return float(self.phases[-1].time[-1])

    @property
    def intervals(self) -> tuple[int, ...]:
        """Of each phase."""
        return tuple(len(phase.time) - 1 for phase in self.phases)

    @property
    def transcription(self) -> str:
        """How it was written: with one control in each interval, or with several points."""
        return "shooting" if held(self.phases[0]) else "collocation"

    def guess_for(self, problem: Problem) -> Problem:
        """The problem with this step for its guess."""
        return with_guess(problem, self.phases, self.parameters)


def write_starts(path: str | Path, steps: Mapping[str, StoredStep]) -> None:
    """Store steps by name, in single precision."""
    arrays: dict[str, np.ndarray] = {}
    for name, step in steps.items():
        goal = step.objective.name if step.objective else ""
        arrays[f"{name}|objective"] = np.array(goal)
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


def read_starts(path: str | Path) -> dict[str, StoredStep]:
    """Stored steps by name."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
    except (OSError, ValueError) as error:
        raise FormatError(f"no stored steps can be read: {error}", str(path)) from error
    steps = {}
    for name in dict.fromkeys(key.split("|")[0] for key in arrays):
        phases = []
        for k, footing in enumerate(FOOTINGS):
            numbers = {q: arrays[f"{name}|{k}|{q}"].astype(float) for q in QUANTITIES}
            contacts = row_names(footing.contacts)
            phases.append(PhaseSolution(name=phase_name(k), force_names=contacts, **numbers))
        goal = str(arrays[f"{name}|objective"])
        known = arrays[f"{name}|parameters"].tolist()
        values = arrays[f"{name}|values"].tolist()
        parameters = dict(zip(known, values, strict=True))
        steps[name] = StoredStep(name, tuple(phases), parameters, OBJECTIVES.get(goal))
    return steps


@cache
def starts() -> Mapping[str, StoredStep]:
    """The steps that come with the program: ``"walk"``, and solved ones by objective and speed."""
    return read_starts(Path(str(files("homodyn.gait.synthesis").joinpath(FILE))))


def nearest_start(wanted: Objective, speed: float | None) -> StoredStep:
    """The stored step with the same objective, or mixed, and the nearest speed."""
    known = starts().values()
    alike = [step for step in known if step.objective == wanted]
    alike = alike or [step for step in known if step.objective == OBJECTIVES["mixed"]]
    alike = alike or list(known)
    free = [step for step in alike if step.name.endswith("free")]
    if speed is None:
        return (free or alike)[0]
    return min(alike, key=lambda step: abs(step.speed - speed))
