"""A C compiler for the tests of the vector headers."""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

HEADERS = Path(__file__).parents[2] / "src" / "homodyn" / "symbolic" / "c"
FLAGS = ["-std=gnu11", "-O2", "-ffp-contract=off", "-fno-math-errno", "-march=native"]

Compile = Callable[..., ctypes.CDLL]


def find_compiler() -> list[str] | None:
    """Return the command of the first C compiler there is, $CC before the usual names."""
    for name in (os.environ.get("CC", ""), "cc", "gcc", "clang"):
        command = name.split()
        if command and shutil.which(command[0]):
            return command
    return None


@pytest.fixture(scope="session")
def compile_c(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Compile C text behind the vector headers, with extra flags, and load the library."""
    compiler = find_compiler()
    if compiler is None:
        pytest.skip("no C compiler: neither $CC nor cc, gcc or clang is on the path")
    folder = tmp_path_factory.mktemp("vector")

    def compile_and_load(text: str, *flags: str) -> ctypes.CDLL:
        number = len(list(folder.glob("*.c")))
        source, library = folder / f"driver{number}.c", folder / f"driver{number}.so"
        source.write_text(text)
        warnings = ["-Wall", "-Wextra", "-Werror"]
        command = [*compiler, *FLAGS, *warnings, *flags, f"-I{HEADERS}", "-shared", "-fPIC"]
        subprocess.run([*command, str(source), "-o", str(library), "-lm"], check=True)
        return ctypes.CDLL(str(library))

    return compile_and_load
