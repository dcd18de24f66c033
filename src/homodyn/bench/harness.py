"""The benchmark harness: timing, rows of ratios, and a registry of benchmarks.

A benchmark is a function in a module of this folder that yields rows. The first line of its
docstring is shown by ``homodyn bench --list``. It imports peers inside the function, so that it can
be listed, and missing peers can be reported, where they are not installed::

    @benchmark("dynamics")
    def dynamics(quick: bool) -> Iterator[BenchmarkRow]:
        note = missing("pin")
        if note:
            ours, peer = best_of(our_function), None
        else:
            import pinocchio
            ...
            ours, peer = interleave(our_function, peer_function, repeat=3 if quick else 10)
        yield BenchmarkRow.from_times("RNEA", ours, peer, unit="s", required=1, note=note)
"""

from __future__ import annotations

import gc
import importlib
import itertools
import json
import os
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

from homodyn.errors import HomodynError
from homodyn.foundation import unknown_name, write_text

Clock = Callable[[], float]


@dataclass(frozen=True)
class BenchmarkRow:
    """One comparison with a peer or a limit."""

    name: str
    """What is measured."""
    ours: float | None
    """Figure of Homodyn; None if it was not measured."""
    peer: float | None
    """Figure of the peer, or the limit; None if there is none."""
    unit: str
    """Unit of both figures."""
    ratio: float | None
    """How many times better ours is; None without a peer."""
    required: float | None
    """Ratio to reach; None for a row without a requirement."""
    note: str = ""
    """Remarks, such as a peer that is not installed."""

    @classmethod
    def from_times(
        cls,
        name: str,
        ours: float,
        peer: float | None,
        *,
        unit: str,
        required: float | None,
        note: str = "",
    ) -> BenchmarkRow:
        """Compare two durations, or other figures that are better when smaller.

        Args:
            name: What is measured.
            ours: Figure of Homodyn.
            peer: Figure of the peer, or the limit; None if there is none.
            unit: Unit of both figures.
            required: Ratio to reach; None for no requirement.
            note: Remarks.

        Returns:
            The row.
        """
        ratio = None if peer is None else peer / ours
        return cls(name, ours, peer, unit, ratio, required, note)

    @classmethod
    def from_rates(
        cls,
        name: str,
        ours: float,
        peer: float | None,
        *,
        unit: str,
        required: float | None,
        note: str = "",
    ) -> BenchmarkRow:
        """Compare two rates, or other figures that are better when larger; see `from_times`."""
        ratio = None if peer is None else ours / peer
        return cls(name, ours, peer, unit, ratio, required, note)

    @property
    def passes(self) -> bool | None:
        """Whether the ratio reaches the requirement; None without a ratio or a requirement."""
        if self.ratio is None or self.required is None:
            return None
        return self.ratio >= self.required


@dataclass(frozen=True)
class BenchmarkReport:
    """The rows of one run and the machine on which they were measured."""

    machine: Mapping[str, Any]
    rows: tuple[BenchmarkRow, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {"machine": dict(self.machine), "rows": [asdict(row) for row in self.rows]}

    def to_json(self) -> str:
        """The report as a JSON object."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def write(self, path: Path) -> None:
        """Write the JSON object to a file, completely or not at all.

        Args:
            path: The file; an existing file is replaced.

        Raises:
            FormatError: The file cannot be written.
        """
        write_text(path, self.to_json() + "\n")


def best_of(
    function: Callable[[], object],
    *,
    repeat: int = 5,
    minimum_time: float = 0.05,
    clock: Clock = perf_counter,
) -> float:
    """Duration of a call: the minimum over several runs.

    Other load of the machine only adds time, so the minimum is the best estimate.

    Args:
        function: The function.
        repeat: Number of runs.
        minimum_time: Duration of a run (s), which makes as many calls as needed.
        clock: The clock.

    Returns:
        Duration of one call (s).
    """
    (best,) = interleave(function, repeat=repeat, minimum_time=minimum_time, clock=clock)
    return best


def interleave(
    *functions: Callable[[], object],
    repeat: int = 5,
    minimum_time: float = 0.05,
    clock: Clock = perf_counter,
) -> tuple[float, ...]:
    """Durations of several functions, timed alternately; see `best_of`.

    Alternation exposes all functions to the same load of the machine. Every other round is
    reversed, so that no function always follows the same one.

    Args:
        *functions: The functions.
        repeat: Number of rounds.
        minimum_time: Duration of a run (s).
        clock: The clock.

    Returns:
        Duration of one call of each function (s).

    Raises:
        HomodynError: ``repeat`` is less than 1.
    """
    if repeat < 1:
        raise HomodynError(f"repeat must be at least 1, not {repeat}")
    with _no_garbage_collection():
        calls = [_calls_to_fill(minimum_time, function, clock) for function in functions]
        best = [float("inf")] * len(functions)
        for turn in range(repeat):
            order = range(len(functions))
            for index in order if turn % 2 == 0 else reversed(order):
                seconds = _time(functions[index], calls[index], clock) / calls[index]
                best[index] = min(best[index], seconds)
    return tuple(best)


def _calls_to_fill(minimum_time: float, function: Callable[[], object], clock: Clock) -> int:
    calls = 1
    while True:
        seconds = _time(function, calls, clock)
        if seconds >= minimum_time:
            return calls
        # Aim a little above the goal, but do not extrapolate far from one short sample.
        aim = int(1.2 * calls * minimum_time / seconds) if seconds > 0 else 10 * calls
        calls = max(calls + 1, min(aim, 10 * calls))


def _time(function: Callable[[], object], calls: int, clock: Clock) -> float:
    turns = itertools.repeat(None, calls)
    start = clock()
    for _ in turns:
        function()
    return clock() - start


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def environment(name: str, value: str) -> Iterator[None]:
    """Set an environment variable inside a block."""
    previous = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        os.environ.pop(name)
        if previous is not None:
            os.environ[name] = previous


def missing(package: str) -> str:
    """Note of a row for a peer that is not installed.

    Args:
        package: Name of the distribution: ``pin``, not ``pinocchio``.

    Returns:
        The note; empty if the package is installed.
    """
    try:
        version(package)
    except PackageNotFoundError:
        return f"{package} is not installed"
    return ""


@dataclass(frozen=True)
class Benchmark:
    """A registered benchmark."""

    name: str
    summary: str
    """One line about what is measured."""
    measure: Callable[[bool], Iterable[BenchmarkRow]]
    """Yields rows; its argument says whether to make fewer and shorter runs."""


_registry: dict[str, Benchmark] = {}


def benchmark(
    name: str,
) -> Callable[[Callable[[bool], Iterable[BenchmarkRow]]], Callable[[bool], Iterable[BenchmarkRow]]]:
    """Decorator that registers a function as a benchmark.

    Args:
        name: Name of the benchmark. The first line of the docstring is its summary.

    Returns:
        The decorator.

    Raises:
        HomodynError: Another benchmark has that name.
    """

    def register(
        measure: Callable[[bool], Iterable[BenchmarkRow]],
    ) -> Callable[[bool], Iterable[BenchmarkRow]]:
        if name in _registry:
            raise HomodynError(f"two benchmarks are named '{name}'")
        lines = (measure.__doc__ or "").strip().splitlines()
        _registry[name] = Benchmark(name, lines[0] if lines else "", measure)
        return measure

    return register


def benchmarks() -> dict[str, Benchmark]:
    """All benchmarks of this folder by name, in alphabetical order."""
    for module in pkgutil.iter_modules([str(Path(__file__).parent)], f"{__package__}."):
        importlib.import_module(module.name)
    return dict(sorted(_registry.items()))


def run(
    names: Iterable[str] | None = None,
    *,
    machine: Mapping[str, Any],
    quick: bool = False,
    progress: Callable[[str], None] = lambda text: None,
) -> BenchmarkReport:
    """Run benchmarks.

    A benchmark that needs a package that is not installed ends with a row that names it.

    Args:
        names: Names of the benchmarks; all of them by default.
        machine: Description of the machine.
        quick: Make fewer and shorter runs.
        progress: Called with the name of each benchmark and row.

    Returns:
        The report.

    Raises:
        HomodynError: There is no such benchmark.
    """
    known = benchmarks()
    chosen = list(known) if names is None else list(names)
    for name in chosen:
        if name not in known:
            raise HomodynError(unknown_name("benchmark", name, known))
    rows: list[BenchmarkRow] = []
    for name in chosen:
        progress(name)
        try:
            for row in known[name].measure(quick):
                rows.append(row)
                progress(f"{name}: {row.name}")
        except ModuleNotFoundError as error:
            if error.name is None or error.name.split(".")[0] == "homodyn":
                raise
            note = f"{error.name} is not installed"
            rows.append(BenchmarkRow(name, None, None, "", None, None, note))
    return BenchmarkReport(machine, tuple(rows))
