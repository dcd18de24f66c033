"""What a run came to: time and every variable by name, and the events on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from homodyn.errors import NetworkError
from homodyn.foundation.text import unknown_name


@dataclass(frozen=True)
class StateTransition:
    """An event at a time: the node it belongs to and the event-state it led to."""

    time: float
    node: str
    state: str
    """The event-state led to; "terminate" where the run ended."""


class NetworkResult:
    """Time ``t`` in rows, and any variable by its dotted name, worked out when asked for.

    ``record["slip.y"]`` has one number a row; vectors and matrices have further axes.
    """

    def __init__(
        self,
        t: np.ndarray,
        events: tuple[StateTransition, ...],
        names: Iterable[str],
        look_up: Callable[[str], np.ndarray],
        states: dict[str, np.ndarray],
        tier: str,
    ) -> None:
        self.t = t
        self.events = events
        self.names = tuple(names)
        self.states = states
        """The event-state of every node that has some, a text for every row."""
        self.tier = tier
        """"compiled" or "interpreted": what took the steps."""
        self._look_up = look_up
        self._known: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        if name == "t":
            return self.t
        if name not in self._known:
            if name not in self.names:
                raise NetworkError(unknown_name("variable", name, [*self.names, "t"]))
            self._known[name] = self._look_up(name)
        return self._known[name]

    def __contains__(self, name: str) -> bool:
        return name in self.names or name == "t"

    def __len__(self) -> int:
        return len(self.t)

    @property
    def terminated(self) -> bool:
        """Whether an event ended the run."""
        return bool(self.events) and self.events[-1].state == "terminate"

    def __repr__(self) -> str:
        span = f"t = {self.t[0]:g} to {self.t[-1]:g} s in {len(self.t)} rows"
        return f"Record: {span}, {len(self.names)} variables, {len(self.events)} events"


class SweepResult:
    """The ends of many runs: ``sweep["slip.steps"]`` has one value for each set of parameters."""

    def __init__(
        self,
        shape: tuple[int, ...],
        parameters: dict[str, np.ndarray],
        time: np.ndarray,
        broken: np.ndarray,
        names: Iterable[str],
        look_up: Callable[[str], np.ndarray],
        tier: str,
    ) -> None:
        self.shape = shape
        self.parameters = parameters
        self.time = time
        """When each run ended, in seconds."""
        self.diverged = broken
        """Which runs came to values that are not finite; theirs are none to use."""
        self.names = tuple(names)
        self.tier = tier
        self._look_up = look_up

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.names:
            raise NetworkError(unknown_name("variable", name, self.names))
        value = self._look_up(name)
        return value.reshape(self.shape + value.shape[1:])

    def __repr__(self) -> str:
        told = f"Sweep of {' x '.join(map(str, self.shape))} runs over {', '.join(self.parameters)}"
        count = int(self.diverged.sum())
        return f"{told}, {count} of which broke down" if count else told
