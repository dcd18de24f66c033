"""All that decides what a step of time does: model, scene, law, actuation, method."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from homodyn.dynamics import Constraint
from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.simulate.actuation import Controller, SampledTorques
from homodyn.simulate.constants import refuse_unknown
from homodyn.simulate.geometry import Scene
from homodyn.simulate.joint_rows import USUAL_LIMITS, JointLimits


@dataclass(frozen=True, eq=False)
class Setup:
    """All that decides what a step does, but for numbers that may differ between lanes."""

    model: Model
    scene: Scene
    law: Any
    actuation: tuple[Any, ...] = ()
    integrator: str = "semi_implicit_euler"
    limits: JointLimits | None = USUAL_LIMITS
    limited: bool = True
    lane: tuple[str, ...] = ()
    ledger: bool = True
    stops: tuple[Any, ...] = ()
    constraints: Constraint | None = None

    def __post_init__(self) -> None:
        if not self.model.nv:
            raise ModelError(f"nothing can move in model {self.model.name!r}: all joints are fixed")
        if self.stepping and self.integrator != "semi_implicit_euler":
            raise ModelError(
                f"contact law {self.law.name!r} finds velocities at the end of a step and goes "
                f"with semi_implicit_euler, not with {self.integrator}"
            )
        if self.law is not None:
            refuse_unknown(self.law, [shape.name for shape in self.model.contacts])

    @property
    def stepping(self) -> bool:
        """Whether the law gives velocities rather than forces."""
        return hasattr(self.law, "step")

    @cached_property
    def memory(self) -> int:
        """Numbers that the law keeps."""
        return int(self.law.memory(self.scene)) if self.law is not None else 0

    @cached_property
    def gap_count(self) -> int:
        """Places that may touch."""
        return len(self.scene.names) if self.law is not None else 0

    @property
    def traced(self) -> tuple[Any, ...]:
        """Actuations that are part of the kernel."""
        outside = (SampledTorques, Controller)
        return tuple(part for part in self.actuation if not isinstance(part, outside))

    def sizes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the inputs."""
        model = self.model
        sizes: dict[str, tuple[int, ...]] = {
            "q": (model.nq,),
            "v": (model.nv,),
            "z": (self.memory,),
            "t": (),
            "work": (3,),
            "status": (),
            "dt": (),
            "torque": (model.nv,),
            "lane": (len(self.lane),),
        }
        if model.parameters:
            sizes["parameters"] = (len(model.parameters),)
        return sizes
