"""Options of the execution of a plan: weights and gains of the tasks, and the simulation."""

from __future__ import annotations

from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.simulate.laws import ContactLaw, ImplicitSprings


@record(eq=True)
class TrackingWeights(Record):
    """Weights of the tasks in the program of every call, and gains of their feedback.

    Weights of center of mass, feet, root and posture are those of Qiu (2012), table 6.1. The gains
    are not printed there; they were tuned on the bundled case ``board``.

    Raises:
        ModelError: A number is negative.
    """

    com: float = 2e4
    """(s2/m)2: center of mass (position, velocity, acceleration)."""
    feet: float = 5e4
    """(s2/m)2 and (s2/rad)2: pose of the feet (pose, velocity, linear acceleration)."""
    hands: float = 5e3
    """(s2/m)2: position of hands that use supports; not in the table."""
    root: float = 1e4
    """(s2/rad)2: orientation of the root."""
    posture: float = 10.0
    """(s2/rad)2: actuated coordinates."""
    com_stiffness: float = 100.0
    """1/s2; the damping of all tasks is critical."""
    feet_stiffness: float = 900.0
    """1/s2; of hands too."""
    root_stiffness: float = 100.0
    """1/s2."""
    posture_stiffness: float = 100.0
    """1/s2."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value >= 0:
                raise ModelError(f"{name} is a number from 0 up, got {value!r}")


@record
class ExecutionOptions(Record):
    """How a plan is tracked and simulated.

    Raises:
        ModelError: A number is out of its range.
    """

    weights: TrackingWeights = TrackingWeights()
    period: float = 0.005
    """s: between two calls of the controller (Qiu 2012, section 6.4)."""
    contact: ContactLaw = ImplicitSprings(stiffness=2e5, damping=2e3, friction=1.0)
    """Contact law of the simulated soles; its friction should exceed that of the plan."""
    step: float = 0.0025
    """s: of the simulation."""
    speed: float | None = None
    """Part of the planned speed, from 0.1 to 1. None: the planned speed, and slower ones where the
    body falls or a support slips by more than 1 cm."""
    settle: float = 0.3
    """s: time on the last supports after the end of the plan."""
    ramp: float = 0.04
    """s: time in which the forces of a support rise after it is reached and fall before it is
    left."""

    def __post_init__(self) -> None:
        for name in ("period", "step"):
            if not getattr(self, name) > 0:
                raise ModelError(f"{name} is a time above 0 s, got {getattr(self, name)!r}")
        for name in ("settle", "ramp"):
            if not getattr(self, name) >= 0:
                raise ModelError(f"{name} is a time from 0 s up, got {getattr(self, name)!r}")
        if self.speed is not None and not 0.1 <= self.speed <= 1:
            raise ModelError(
                f"speed is a part of the planned speed from 0.1 to 1, got {self.speed!r}"
            )
