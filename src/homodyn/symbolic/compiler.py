"""The C compiler of this machine, its vector instruction set, and builds of libraries."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from homodyn.errors import KernelError
from homodyn.symbolic.codegen import CSource

COMPILER_FLAGS = ("-O2", "-std=gnu11", "-fPIC", "-ffp-contract=off", "-fno-math-errno", "-w")
HEADER_FOLDER = Path(__file__).parent / "c"
LANES_BY_INSTRUCTION_SET = {"AVX-512": 8, "AVX2": 4, "AVX": 4, "SSE2": 2, "NEON": 2, "scalar": 1}


class CompileFailed(KernelError):
    """The compiler failed on a generated file, could not be run, or ran out of time."""


@dataclass(frozen=True)
class Compiler:
    """A C compiler with the instruction set it can use on this processor."""

    path: str
    version: str
    native: tuple[str, ...]
    instruction_set: str
    fma: bool

    @property
    def lanes(self) -> int:
        """States computed at once: those of the processor, or ``HOMODYN_LANES``."""
        widest = LANES_BY_INSTRUCTION_SET[self.instruction_set]
        value = os.environ.get("HOMODYN_LANES", "")
        if value:
            if value not in ("1", "2", "4", "8"):
                raise KernelError(f"HOMODYN_LANES is {value!r}; it may be 1, 2, 4 or 8")
            return int(value)
        return widest

    @property
    def identity(self) -> str:
        """All that a built library depends on, besides its source."""
        fma = "fma" if self.fma else "no fma"
        flags = " ".join((*COMPILER_FLAGS, *self.native))
        return f"{self.version}|{self.instruction_set}|{fma}|{self.lanes}|{flags}"


def find_compiler() -> Compiler | None:
    """The first of ``$CC``, cc, gcc and clang that works; None without one."""
    return _find(os.environ.get("CC", ""), os.environ.get("PATH", ""))


@lru_cache(maxsize=8)
def _find(cc: str, path: str) -> Compiler | None:
    for name in (cc, "cc", "gcc", "clang"):
        found = shutil.which(name, path=path) if name else None
        if found:
            described = _describe(found)
            if described is not None:
                return described
    return None


def _describe(path: str) -> Compiler | None:
    """Version and instruction set of a compiler, from the macros it predefines."""
    for native in (("-march=native",), ("-mcpu=native",), ()):
        macros = _output(path, *native, "-dM", "-E", "-x", "c", os.devnull)
        if macros is not None:
            break
    else:
        return None
    version = _output(path, "--version") or "unknown"
    names = {line.split()[1] for line in macros.splitlines() if line.startswith("#define")}
    if "__AVX512F__" in names and "__AVX512DQ__" in names:
        kind = "AVX-512"
    elif "__AVX2__" in names:
        kind = "AVX2"
    elif "__AVX__" in names:
        kind = "AVX"
    elif "__SSE2__" in names:
        kind = "SSE2"
    elif "__ARM_NEON" in names:
        kind = "NEON"
    else:
        kind = "scalar"
    fma = "__FMA__" in names or "__ARM_FEATURE_FMA" in names
    target = f"{platform.machine()} {version.splitlines()[0]}"
    return Compiler(path, target, native, kind, fma)


def _output(*command: str) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def build(
    source: CSource,
    compiler: Compiler,
    target: Path,
    threads: int,
    flags: tuple[str, ...] = COMPILER_FLAGS,
    deadline: float | None = None,
) -> None:
    """Compile the files of a source, several at once, and link them into ``target``.

    Args:
        source: The C files.
        compiler: The compiler.
        target: Path of the library.
        threads: Files that are compiled at the same time.
        flags: Flags of the compiler.
        deadline: Time (s, of `time.monotonic`) at which compiler runs are ended.

    Raises:
        CompileFailed: The compiler failed, could not be run, or was ended at the deadline.
    """
    with tempfile.TemporaryDirectory(prefix="homodyn-") as folder:
        place = Path(folder)
        for header in HEADER_FOLDER.glob("*.h"):
            shutil.copy(header, place / header.name)
        for name, text in source.files:
            (place / name).write_text(text)
        names = [name for name, _ in source.files]
        with ThreadPoolExecutor(max_workers=max(1, threads)) as pool:
            objects = list(
                pool.map(lambda name: _compile(name, compiler, place, flags, deadline), names)
            )
        _run([compiler.path, "-shared", "-o", str(target), *objects, "-lm"], place, deadline)


def _compile(
    name: str, compiler: Compiler, place: Path, flags: tuple[str, ...], deadline: float | None
) -> str:
    """Compile one file; returns the name of the object file."""
    target = name.removesuffix(".c") + ".o"
    _run([compiler.path, *flags, *compiler.native, "-c", name, "-o", target], place, deadline)
    return target


def _run(command: list[str], place: Path, deadline: float | None) -> None:
    remaining = None if deadline is None else max(0.0, deadline - time.monotonic())
    try:
        run = subprocess.run(
            command, cwd=place, capture_output=True, text=True, check=False, timeout=remaining
        )
    except subprocess.TimeoutExpired as error:
        raise CompileFailed(f"{command[0]} was ended: the time limit has passed") from error
    except OSError as error:
        raise CompileFailed(f"{command[0]} could not be run: {error}") from error
    if run.returncode != 0:
        lines = run.stderr.strip().splitlines() or ["no message"]
        message = next((line for line in lines if "error" in line), lines[-1])
        raise CompileFailed(f"{command[0]} ended with {run.returncode}: {message}")
