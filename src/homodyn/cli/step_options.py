"""Options of ``homodyn reconstruct``: phases, forces, friction, belt and trials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from homodyn.cli.option_groups import belt_setting
from homodyn.errors import HomodynError


@dataclass(frozen=True)
class StepOptions:
    """The optimal control problem of one step."""

    phases: Annotated[
        str,
        typer.Option(
            "--phases", metavar="auto|CSV", help="Contact phases: detected, or read from a table."
        ),
    ] = "auto"
    plates: Annotated[
        str,
        typer.Option(
            "--plates", metavar="check|term", help="Compare with measured forces, or track them."
        ),
    ] = "check"
    nodes: Annotated[
        int | None, typer.Option("--nodes", metavar="N", help="Approximate number of intervals.")
    ] = None
    preset: Annotated[
        str,
        typer.Option(
            "--preset", metavar="NAME", help="Set of weights: recorded, step, felis2015 or close."
        ),
    ] = "recorded"
    effort: Annotated[
        float | None,
        typer.Option("--effort", metavar="WEIGHT", help="Weight of squared torques."),
    ] = None
    friction: Annotated[
        float | None,
        typer.Option(
            "--friction",
            metavar="MU",
            help="Friction coefficient of the ground; forces are not bounded by default.",
        ),
    ] = None
    belt: Annotated[
        str,
        typer.Option(
            "--belt",
            metavar="auto|M/S",
            help="Speed of a treadmill: found in the stance feet, or given; 0 is still ground.",
        ),
    ] = "auto"
    steps: Annotated[
        int, typer.Option("--steps", metavar="N", help="Number of consecutive steps.")
    ] = 1
    soles: Annotated[
        str | None,
        typer.Option(
            "--soles",
            metavar="yielding|rigid",
            help="Whether soles and heel pads yield; as in the preset by default.",
        ),
    ] = None
    others: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="TRIAL[,FORCES]",
            help="Another trial of the same person, in one problem with the first; repeatable.",
        ),
    ] = None
    first: Annotated[
        float | None, typer.Option("--from", metavar="S", help="Start of the step (s).")
    ] = None
    last: Annotated[
        float | None, typer.Option("--to", metavar="S", help="End of the step (s).")
    ] = None
    seconds: Annotated[
        float | None,
        typer.Option(
            "--time-limit", metavar="S", help="Time limit (s) of the solver; none by default."
        ),
    ] = None

    def check(self) -> None:
        """Check the options.

        Raises:
            HomodynError: An option is wrong, or options contradict each other.
        """
        if self.plates not in ("check", "term"):
            raise HomodynError(f"--plates is {self.plates!r}; accepted: check, term")
        if (self.first is None) != (self.last is None):
            raise HomodynError(
                "a step has a start and an end: give both --from and --to, or neither"
            )
        if self.steps < 1:
            raise HomodynError(f"--steps is {self.steps}; expected at least 1")
        if self.nodes is not None and self.nodes < 1:
            raise HomodynError(f"--nodes is {self.nodes}; expected at least 1")
        if self.soles not in (None, "yielding", "rigid"):
            raise HomodynError(f"--soles is {self.soles!r}; accepted: yielding, rigid")
        if self.others and (self.phases != "auto" or self.first is not None):
            raise HomodynError(
                "--phases, --from and --to are of one trial; leave them out with --with"
            )
        _ = self.belt_speed

    @property
    def belt_speed(self) -> float | None:
        """Speed of the belt (m/s); None where it is to be found.

        Raises:
            HomodynError: The option is not a speed.
        """
        return belt_setting(self.belt)

    @property
    def compliant(self) -> bool | None:
        """Whether soles yield; None as in the preset."""
        return None if self.soles is None else self.soles == "yielding"

    def choices(self, cutoff: float | str) -> dict[str, Any]:
        """The options that are recorded in the summary of the result."""
        return {
            "phases": self.phases,
            "plates": self.plates,
            "preset": self.preset,
            "nodes": self.nodes,
            "steps": self.steps,
            "effort": self.effort,
            "friction": self.friction,
            "belt": self.belt,
            "soles": self.soles,
            "with": list(self.others or ()),
            "cutoff_hz": cutoff,
        }
