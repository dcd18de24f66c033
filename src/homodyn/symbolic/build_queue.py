"""Native code built by a background process, which may outlive the program that requested it.

The queue of jobs is a folder in the cache. A process that adds a job starts a builder unless one is
running, and announces it by one line on stderr. The builder runs at the lowest priority. It ends
when the queue is empty, or after `MAX_BUILDER_SECONDS`; unfinished builds are then abandoned. A
command that ends before its kernels are built finds them the next time.
``HOMODYN_BACKGROUND=off`` turns the background process off.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import casadi as ca

from homodyn.symbolic import cache
from homodyn.symbolic.codegen import CSource, generate
from homodyn.symbolic.compiler import COMPILER_FLAGS, CompileFailed, Compiler, find_compiler
from homodyn.symbolic.native_code import build_library
from homodyn.symbolic.passes.pipeline import lower_and_contract
from homodyn.symbolic.threads import thread_count
from homodyn.symbolic.trace import Port

T = TypeVar("T")

QUEUE = "queue"
"""Name of the folder of jobs, inside the cache folder."""

BUILDER_NICENESS = 19

MAX_BUILDER_SECONDS = 600.0
"""Time after which the builder ends, even if the queue is not empty."""

QUEUE_CHECK_INTERVAL_S = 2.0

QUICK_BUILD_FLAGS = tuple("-O1" if flag == "-O2" else flag for flag in COMPILER_FLAGS)
"""Flags for long straight-line code, which compiles in two thirds of the time with -O1."""

_METADATA_TEMPLATE = """\
const long long about_size = {size};
const long long about[] = {{{numbers}}};
"""


@dataclass(frozen=True, eq=False)
class BuildJob:
    """A library to build: its key, its graph, its input ports and its metadata."""

    key: str
    graph: ca.Function
    inputs: tuple[Port, ...]
    metadata: list[int]

    def source(self, compiler: Compiler) -> CSource:
        """The C source of the library, metadata included."""
        graph = self.graph
        outputs = tuple(Port(f"output{k}", (graph.numel_out(k),)) for k in range(graph.n_out()))
        source = generate(lower_and_contract(graph), self.inputs, outputs, compiler.lanes)
        numbers = ", ".join(map(str, self.metadata))
        text = _METADATA_TEMPLATE.format(size=len(self.metadata), numbers=numbers)
        return CSource((*source.files, ("about.c", text)))

    def to_text(self) -> str:
        """The job as the text of a file in the queue."""
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
        """The job of a file in the queue."""
        data = json.loads(text)
        inputs = tuple(Port(name, tuple(shape)) for name, shape in data["inputs"])
        return cls(data["key"], ca.Function.deserialize(data["graph"]), inputs, data["about"])


def submit(job: BuildJob) -> bool:
    """Add a job to the queue and start a builder unless one is running.

    Args:
        job: The library to build.

    Returns:
        Whether it will be built; False where the background process is turned off or impossible.
    """
    if os.environ.get("HOMODYN_BACKGROUND", "") == "off":
        return False
    try:
        import fcntl  # noqa: F401
    except ImportError:
        return False
    try:
        root = cache.create_folder()
        queue = root / QUEUE
        queue.mkdir(mode=0o700, exist_ok=True)
        if cache.distrust(root) or cache.distrust(queue):
            return False
        if not (queue / f"{job.key}.json").exists():
            _write(queue / f"{job.key}.json", job.to_text())
        if not is_builder_running():
            _start_builder()
    except OSError:
        return False
    return True


def _start_builder() -> None:
    subprocess.Popen(
        [sys.executable, "-c", "from homodyn.symbolic.build_queue import main; main()"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    print(
        "homodyn: a background process compiles kernels for later runs, at low priority and for "
        f"{MAX_BUILDER_SECONDS / 60:.0f} min at most (HOMODYN_BACKGROUND=off turns it off)",
        file=sys.stderr,
    )


def is_builder_running() -> bool:
    """Whether a builder is working on the queue."""
    with _builder_lock() as free:
        return not free


def pending_jobs() -> int:
    """Jobs in the queue, including those being built."""
    return len(list((cache.folder() / QUEUE).glob("*.json")))


def _write(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    with os.fdopen(handle, "w") as file:
        file.write(text)
    Path(name).replace(path)


@contextmanager
def _builder_lock() -> Iterator[bool]:
    """Hold the lock of the builder; yields whether this process has got it."""
    import fcntl

    with open(cache.folder() / QUEUE / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True


def drain_queue(seconds: float = MAX_BUILDER_SECONDS) -> None:
    """Build the jobs of the queue, the smallest first; a job that fails is dropped.

    Args:
        seconds: Time limit; jobs that have not been started by then stay in the queue.
    """
    compiler = find_compiler()
    deadline = time.monotonic() + seconds
    queue = cache.folder() / QUEUE
    if cache.distrust(cache.folder()) or cache.distrust(queue):
        return
    with _builder_lock() as free:
        while free and compiler is not None and time.monotonic() < deadline:
            jobs = sorted(queue.glob("*.json"), key=lambda path: path.stat().st_size)
            if not jobs:
                break
            map_two_at_a_time(lambda path: _build(path, compiler, deadline), jobs)


def map_two_at_a_time(build: Callable[[T], object], jobs: Iterable[T]) -> None:
    """Run two jobs at a time: C is generated for one while that of the other is compiled."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(build, jobs))


def _build(path: Path, compiler: Compiler, deadline: float) -> None:
    if time.monotonic() > deadline:
        return
    try:
        if not (cache.folder() / path.stem).is_dir() and not cache.distrust(path):
            job = BuildJob.from_text(path.read_text())
            # Two jobs at a time share the processors.
            threads = max(1, thread_count() // 2)
            source = job.source(compiler)
            build_library(job.key, source, compiler, threads, QUICK_BUILD_FLAGS, deadline)
    except (CompileFailed, OSError, RuntimeError, ValueError, KeyError):
        pass
    finally:
        path.unlink(missing_ok=True)


def main() -> None:
    """The builder process."""
    os.nice(BUILDER_NICENESS)
    # Compiler runs end at the deadline. Code generation cannot be interrupted, so the process
    # exits.
    watchdog = threading.Timer(MAX_BUILDER_SECONDS + 1, os._exit, (1,))
    watchdog.daemon = True
    watchdog.start()
    threading.Thread(target=_end_without_queue, daemon=True).start()
    drain_queue()


def _end_without_queue() -> None:
    """End the builder when its queue is removed: nobody can use what it builds."""
    queue = cache.folder() / QUEUE
    while queue.is_dir():
        time.sleep(QUEUE_CHECK_INTERVAL_S)
    os._exit(0)
