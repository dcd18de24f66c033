"""One harness for all benchmarks: timing, rows of ratios, and benchmarks found by name.

A benchmark is a function in a module of this folder that yields rows; the first line of its
docstring is what ``homodyn bench --list`` shows. It imports peers inside the function, so that it
can be listed, and their absence reported, where they are not installed::

    @benchmark("dynamics")
    def dynamics(quick: bool) -> Iterator[Row]:
        note = missing("pin")
        if note:
            mine, theirs = best_of(ours), None
        else:
            import pinocchio
            ...
            mine, theirs = interleave(ours, peer, repeat=3 if quick else 10)
        yield Row.from_times("rnea", mine, theirs, unit="s", required=1, note=note)
"""

from __future__ import annotations

import gc
import importlib
import itertools
import json
import os
import pkgutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

from homodyn.errors import HomodynError

Clock = Callable[[], float]


@dataclass(frozen=True)
class BenchmarkRow:
    """One comparison: our figure, the peer's, and how many times better ours is.

    A figure or ratio that was not measured is ``None`` and ``note`` says why; ``required`` is the
    ratio to reach, ``None`` for a row that only informs.
    """

    name: str
    ours: float | None
    peer: float | None
    unit: str
    ratio: float | None
    required: float | None
    note: str = ""

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
        """Compare two durations, or anything else of which less is better."""
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
        """Compare two rates, or anything else of which more is better."""
        ratio = None if peer is None else ours / peer
        return cls(name, ours, peer, unit, ratio, required, note)

    @property
    def passes(self) -> bool | None:
        """Whether the ratio reaches what is required; ``None`` where that cannot be said."""
        if self.ratio is None or self.required is None:
            return None
        return self.ratio >= self.required


@dataclass(frozen=True)
class BenchmarkReport:
    """The rows of one run, with the machine they were measured on."""

    machine: Mapping[str, Any]
    rows: tuple[BenchmarkRow, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain dictionaries and lists."""
        return {"machine": dict(self.machine), "rows": [asdict(row) for row in self.rows]}

    def to_json(self) -> str:
        """Return the report as one JSON object."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def write(self, path: Path) -> None:
        """Write the JSON object into a file, which is either complete or left as it was."""
        text = self.to_json() + "\n"
        try:
            with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as beside:
                complete = Path(beside) / path.name
                complete.write_text(text, encoding="utf-8")
                os.replace(complete, path)
        except OSError as error:
            raise HomodynError(f"cannot write {path}: {error.strerror}") from error


def best_of(
    function: Callable[[], object],
    *,
    repeat: int = 5,
    minimum_time: float = 0.05,
    clock: Clock = perf_counter,
) -> float:
    """Return the seconds one call takes, in the best of several runs.

    Noise of a machine only ever adds time, so the least is the nearest to the truth. A run is as
    many calls as fill ``minimum_time`` [s].
    """
    (best,) = interleave(function, repeat=repeat, minimum_time=minimum_time, clock=clock)
    return best


def interleave(
    *functions: Callable[[], object],
    repeat: int = 5,
    minimum_time: float = 0.05,
    clock: Clock = perf_counter,
) -> tuple[float, ...]:
    """Return the seconds one call of each function takes, timed in turns.

    Turns let a busy or throttled moment of the machine hit all of them alike; every other round
    goes backwards so that none always follows the same neighbour. Otherwise as ``best_of``.
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
        # Aim a little beyond the goal, but never leap on the strength of one tiny sample.
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
    """Set an environment variable for a while."""
    previous = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        os.environ.pop(name)
        if previous is not None:
            os.environ[name] = previous


def missing(package: str) -> str:
    """Return why a peer cannot take part, as the note of a row; empty when it is installed.

    ``package`` is the name it is installed under: ``pin``, not ``pinocchio``.
    """
    try:
        version(package)
    except PackageNotFoundError:
        return f"{package} is not installed"
    return ""


@dataclass(frozen=True)
class Benchmark:
    """A named function that measures and yields rows; told whether to be quick about it."""

    name: str
    summary: str
    measure: Callable[[bool], Iterable[BenchmarkRow]]


_registry: dict[str, Benchmark] = {}


def benchmark(
    name: str,
) -> Callable[[Callable[[bool], Iterable[BenchmarkRow]]], Callable[[bool], Iterable[BenchmarkRow]]]:
    """Register the decorated function as a benchmark; its docstring's first line describes it."""

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
    """Return all benchmarks of this folder by name, in alphabetical order."""
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
    """Run the named benchmarks, or all, and return their rows; ``progress`` hears each name.

    A benchmark that meets a package that is not installed ends with a row that says so.
    """
    known = benchmarks()
    chosen = list(known) if names is None else list(names)
    for name in chosen:
        if name not in known:
            raise HomodynError(f"no benchmark '{name}'; valid names: {list(known)}")
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
