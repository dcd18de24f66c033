"""Native code built by another process, which outlives the one that asked for it.

A queue of jobs lies beside the cache of libraries. Whoever adds a job starts a builder unless one
is at work; it runs at the lowest priority, empties the queue and ends. A command that is done
before its kernels are built thus finds them there the next time. ``HOMODYN_BACKGROUND=off`` turns
that off.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import casadi as ca

from homodyn.symbolic import cache
from homodyn.symbolic.trace import Port

if TYPE_CHECKING:
    from homodyn.symbolic.compiler import Compiler

T = TypeVar("T")
QUEUE = "queue"
BUILDER_NICENESS = 19


@dataclass(frozen=True, eq=False)
class BuildJob:
    """A library to be built: its key, its graph, its ports and what it tells about itself."""

    key: str
    graph: ca.Function
    inputs: tuple[Port, ...]
    metadata: list[int]

    def to_text(self) -> str:
        """For a file."""
        ports = [[port.name, list(port.shape)] for port in self.inputs]
        return json.dumps(
            {
                "key": self.key,
                "inputs": ports,
                "about": self.metadata,
                "graph": self.graph.serialize(),
            }
        )

    @classmethod
    def from_text(cls, text: str) -> BuildJob:
        """From a file."""
        read = json.loads(text)
        inputs = tuple(Port(name, tuple(shape)) for name, shape in read["inputs"])
        return cls(read["key"], ca.Function.deserialize(read["graph"]), inputs, read["about"])


def submit(job: BuildJob) -> bool:
    """Put a job into the queue and see that somebody works on it; False where nobody will."""
    if os.environ.get("HOMODYN_BACKGROUND", "") == "off":
        return False
    try:
        import fcntl  # noqa: F401
    except ImportError:
        return False
    try:
        queue = cache.folder() / QUEUE
        queue.mkdir(parents=True, exist_ok=True)
        if not (queue / f"{job.key}.json").exists():
            _write(queue / f"{job.key}.json", job.to_text())
        if not is_builder_running():
            subprocess.Popen(
                [sys.executable, "-c", "from homodyn.symbolic.build_queue import main; main()"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
    except OSError:
        return False
    return True


def is_builder_running() -> bool:
    """Whether a builder is at work."""
    with _builder_lock() as free:
        return not free


def pending_jobs() -> int:
    """Jobs in the queue, that which is being built included."""
    return len(list((cache.folder() / QUEUE).glob("*.json")))


def _write(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    with os.fdopen(handle, "w") as file:
        file.write(text)
    Path(name).replace(path)


@contextmanager
def _builder_lock() -> Iterator[bool]:
    """Whether this process may build; nobody else may, as long as it lasts."""
    import fcntl

    with open(cache.folder() / QUEUE / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True


def drain_queue() -> None:
    """Build what waits, the shortest first; a job that fails is dropped."""
    from homodyn.symbolic.compiler import find_compiler

    compiler = find_compiler()
    queue = cache.folder() / QUEUE
    with _builder_lock() as free:
        while free and compiler is not None:
            jobs = sorted(queue.glob("*.json"), key=lambda path: path.stat().st_size)
            if not jobs:
                break
            map_two_at_a_time(partial(_build, compiler=compiler), jobs)


def map_two_at_a_time(build: Callable[[T], object], jobs: Iterable[T]) -> None:
    """Work on two jobs at a time: while C is compiled for one, it is written for the other."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(build, jobs))


def _build(path: Path, compiler: Compiler) -> None:
    from homodyn.symbolic.compiler import CompileFailed
    from homodyn.symbolic.lazy_kernel import build_job
    from homodyn.symbolic.threads import thread_count

    try:
        if not (cache.folder() / path.stem).is_dir():
            # Two jobs at a time share the processors.
            threads = max(1, thread_count() // 2)
            build_job(BuildJob.from_text(path.read_text()), compiler, threads)
    except (CompileFailed, OSError, RuntimeError, ValueError, KeyError):
        pass
    finally:
        path.unlink(missing_ok=True)


def main() -> None:
    """What the builder does."""
    os.nice(BUILDER_NICENESS)
    drain_queue()
