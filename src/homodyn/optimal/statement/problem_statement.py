"""The statement of an optimal-control problem: data only, before any transcription."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

import numpy as np

from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of, duplicate_names
from homodyn.model import Model
from homodyn.optimal.statement.muscle_drive import MUSCLE_QUANTITIES, MuscleDrive
from homodyn.optimal.statement.path_constraints import BoundaryConstraint
from homodyn.optimal.statement.phase import Phase
from homodyn.optimal.statement.springs import Spring


@record(eq=True)
class FreeParameter(Record):
    """An unknown number that is constant over the whole movement, such as a step length."""

    lower: float = -np.inf
    """Lower bound."""
    upper: float = np.inf
    """Upper bound."""
    guess: float = 0.0
    """Initial guess."""

    def headline(self) -> str:
        """Range and guess."""
        return f"FreeParameter from {self.lower:g} to {self.upper:g}, guess {self.guess:g}"

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise HomodynError(
                f"a parameter has the empty range from {self.lower:g} to {self.upper:g}"
            )


@record
class ProblemStatement(Record):
    """Phases in sequence, parameters, and constraints between both ends of the movement.

    Attributes:
        model: The model.
        phases: The phases in the order of time.
        parameters: Unknown numbers by name.
        boundary_constraints: Constraints between the first and the last time point.
        actuated: Names of the coordinates with a torque; when left out, all but those of a floating
            base, or none where muscles act. Beside muscles such torques are reserves.
        springs: Springs with dampers across joints.
        muscles: How the muscles of the model act; None: they do not.
    """

    model: Model
    phases: Sequence[Phase]
    parameters: Mapping[str, FreeParameter] = field(default_factory=dict)
    boundary_constraints: Sequence[BoundaryConstraint] = ()
    actuated: tuple[str, ...] | None = None
    springs: Sequence[Spring] = ()
    muscles: MuscleDrive | None = None

    def __post_init__(self) -> None:
        if not self.phases:
            raise HomodynError("a problem has at least one phase")
        duplicates = duplicate_names(phase.name for phase in self.phases)
        if duplicates:
            raise HomodynError(
                f"phases must have different names; duplicates: {', '.join(duplicates)}"
            )
        if self.muscles is not None:
            self.muscles.laws(self.model)
            return
        for phase in self.phases:
            for given in (phase.bounds, phase.start, phase.end, phase.guess):
                for key in (k for k in given if k in MUSCLE_QUANTITIES):
                    raise HomodynError(
                        f"phase {phase.name!r} has bounds or a guess of {key!r}, but no muscles "
                        "act: the problem needs muscles=MuscleDrive()"
                    )

    def headline(self) -> str:
        """Model and sizes."""
        parameters = count_of(len(self.parameters), "parameter")
        constraints = count_of(len(self.boundary_constraints), "boundary constraint")
        return f"{type(self).__name__} of {self.model.name}: {parameters}, {constraints}"

    def __repr__(self) -> str:
        """Model, phases and sizes, in a few lines."""
        title = self.headline()
        lines = [f"  {phase!r}" for phase in self.phases[:8]]
        more = len(self.phases) - len(lines)
        return "\n".join([title, *lines, *([f"  ... and {more} more phases"] if more else [])])
