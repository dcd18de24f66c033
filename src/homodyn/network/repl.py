"""Lines typed about a network under way, and what is answered."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from homodyn.errors import NetworkError
from homodyn.foundation.text import unknown_name
from homodyn.network.incremental_run import IncrementalRun
from homodyn.network.network import Network

HELP = """\
FORMULA            its value now, its rate, and its derivatives towards what it depends on
NAME = NUMBER      set a parameter, or the value a state starts from
run SECONDS        go on for so long
restart            begin again
names [PATTERN]    variables with their values, as in names n*.y
help, quit"""


def match_variables(net: Network, patterns: list[str]) -> list[str]:
    """The variables that patterns such as ``n*.y`` mean, in the order of the network."""
    found: dict[str, None] = {}
    for pattern in patterns:
        matching = [name for name in net.names if fnmatchcase(name, pattern)]
        if not matching:
            raise NetworkError(unknown_name("variable", pattern, net.names))
        found.update(dict.fromkeys(matching))
    return list(found)


class ReplSession:
    """Answers one line after the other, with a run of the network in the background."""

    def __init__(self, net: Network, dt: float | None = None, seed: int = 0) -> None:
        self.net, self.dt, self.seed = net, dt, seed
        self.run: IncrementalRun = net.start(dt, seed=seed)
        self.finished = False

    @property
    def prompt(self) -> str:
        """What stands before a line: the time."""
        return f"t = {self.run.t:g} s > "

    def execute(self, line: str) -> str:
        """What is to be said to a line; a `NetworkError` tells what is wrong with it."""
        words = line.split("#")[0].strip()
        command, _, rest = words.partition(" ")
        if not words:
            return ""
        if words in ("quit", "exit"):
            self.finished = True
            return ""
        if words == "help":
            return HELP
        if words == "restart":
            self.run = self.net.start(self.dt, seed=self.seed)
            return ""
        if command == "run" and rest:
            return self._run(rest)
        if command == "names":
            return self._names(rest.strip() or "*")
        assigned = re.fullmatch(r"([^=<>!\[\]()]+?)\s*=\s*([^=].*)", words)
        if assigned:
            return self._set(assigned[1], assigned[2])
        return self._formula(words)

    def _run(self, text: str) -> str:
        try:
            duration = float(text)
        except ValueError:
            raise NetworkError(f"run takes a number of seconds, not {text!r}") from None
        record = self.run.advance(duration)
        told = f"{len(record) - 1} steps, {len(record.events)} events"
        return f"{told}; an event ended the run" if self.run.ended else told

    def _names(self, pattern: str) -> str:
        names = match_variables(self.net, [pattern])
        width = max(map(len, names))
        return "\n".join(f"{name:{width}}  {_number(self.run[name])}" for name in names)

    def _set(self, name: str, text: str) -> str:
        value = self.run.evaluate(text)
        given = value if np.ndim(value) < 2 else np.asarray(value)
        self.net.set({name: np.reshape(given, (-1, 1)) if np.ndim(given) == 1 else given})
        variable = self.net.system.variables[name]
        if self.net.system.kinds[variable] != "parameter":
            return f"{name} starts from {_number(value)}; restart to see it"
        return f"{name} = {_number(value)}"

    def _formula(self, text: str) -> str:
        found = self.run.derivatives(text)
        lines = [_number(found.value), f"  d/dt = {_number(found.rate)}"]
        lines += [f"  d/d {name} = {_number(one)}" for name, one in found.partials.items()]
        return "\n".join(lines)


def _number(value: Any) -> str:
    if np.ndim(value) == 0:
        return f"{float(value):.9g}"
    rows = np.atleast_2d(value)
    inside = [", ".join(f"{one:.9g}" for one in row) for row in rows]
    if np.ndim(value) == 1:
        return "[" + "; ".join(f"{one:.9g}" for one in np.asarray(value)) + "]"
    return "[" + "; ".join(inside) + "]"
