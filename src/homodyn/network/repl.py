"""Interactive queries of a running network."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from homodyn.errors import NetworkError
from homodyn.foundation.text import count_of, unknown_name
from homodyn.network.incremental_run import IncrementalRun
from homodyn.network.network import Network

HELP = """\
FORMULA            current value, time derivative and partial derivatives
NAME = NUMBER      set a parameter, or the initial value of a state
run SECONDS        advance the run
restart            restart the run
names [PATTERN]    variables with their values, such as names n*.y
help, quit"""


def match_variables(net: Network, patterns: list[str]) -> list[str]:
    """Variables that match patterns.

    Args:
        net: The network.
        patterns: Names, or patterns such as ``n*.y``.

    Returns:
        Dotted names, pattern by pattern.

    Raises:
        NetworkError: A pattern matches no variable.
    """
    found: dict[str, None] = {}
    for pattern in patterns:
        matching = [name for name in net.names if fnmatchcase(name, pattern)]
        if not matching:
            raise NetworkError(unknown_name("variable", pattern, net.names))
        found.update(dict.fromkeys(matching))
    return list(found)


class ReplSession:
    """A session of queries of an incremental run.

    Args:
        net: The network.
        dt: Time step (s); that of the network by default.
        seed: Seed of the random numbers of ``rand``.
    """

    def __init__(self, net: Network, dt: float | None = None, seed: int = 0) -> None:
        self.net, self.dt, self.seed = net, dt, seed
        self.run: IncrementalRun = net.start(dt, seed=seed)
        self.finished = False

    @property
    def prompt(self) -> str:
        """The prompt: the current time."""
        return f"t = {self.run.t:g} s > "

    def execute(self, line: str) -> str:
        """Execute a line.

        Args:
            line: A formula or a command; see `HELP`.

        Returns:
            The output; may be empty.

        Raises:
            NetworkError: The line is wrong.
        """
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
            raise NetworkError(f"run needs a number of seconds, not {text!r}") from None
        result = self.run.advance(duration)
        steps = count_of(len(result) - 1, "step")
        text = f"{steps}, {count_of(len(result.events), 'event')}"
        return f"{text}; an event ended the run" if self.run.ended else text

    def _names(self, pattern: str) -> str:
        names = match_variables(self.net, [pattern])
        width = max(map(len, names))
        return "\n".join(f"{name:{width}}  {_number(self.run[name])}" for name in names)

    def _set(self, name: str, text: str) -> str:
        value = self.run.evaluate(text)
        array = value if np.ndim(value) < 2 else np.asarray(value)
        self.net.set({name: np.reshape(array, (-1, 1)) if np.ndim(array) == 1 else array})
        variable = self.net.system.variables[name]
        if self.net.system.kinds[variable] != "parameter":
            return f"the initial value of {name} is {_number(value)}; restart to use it"
        return f"{name} = {_number(value)}"

    def _formula(self, text: str) -> str:
        found = self.run.derivatives(text)
        lines = [_number(found.value), f"  d/dt = {_number(found.rate)}"]
        lines += [f"  d/d {name} = {_number(each)}" for name, each in found.partials.items()]
        return "\n".join(lines)


def _number(value: Any) -> str:
    if np.ndim(value) == 0:
        return f"{float(value):.9g}"
    rows = np.atleast_2d(value)
    if np.ndim(value) == 1:
        return "[" + "; ".join(f"{x:.9g}" for x in np.asarray(value)) + "]"
    return "[" + "; ".join(", ".join(f"{x:.9g}" for x in row) for row in rows) + "]"
