"""Run the tests that `tests/mirror.toml` lists for modules, and print which do not call them.

    python tools/trace_tests.py symbolic optimal/nlp

Calls inside processes that a test starts are not seen.
"""

from __future__ import annotations

import os
import sys
import threading
import tomllib
from collections.abc import Generator, Sequence
from pathlib import Path
from types import FrameType

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
SOURCE, TESTS = REPOSITORY / "src" / "homodyn", REPOSITORY / "tests"


class CallTrace:
    """pytest plugin that records which modules of the package the tests of each file call."""

    def __init__(self) -> None:
        self.calls: set[tuple[str, str]] = set()
        """Pairs of a test file and a module, relative to their folders."""
        self._test = ""
        self._modules: dict[str, str] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Trace one test with its fixtures."""
        self._test = item.path.relative_to(TESTS).as_posix()
        sys.settrace(self._on_call)
        threading.settrace(self._on_call)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]

    def _on_call(self, frame: FrameType, event: str, argument: object) -> None:
        """Record the module of a function; returns None, so that its lines are not traced."""
        code = frame.f_code
        if code.co_name == "<module>":
            return
        module = self._modules.get(code.co_filename)
        if module is None:
            path = Path(code.co_filename)
            inside = path.is_relative_to(SOURCE)
            module = path.relative_to(SOURCE).as_posix() if inside else ""
            self._modules[code.co_filename] = module
        if module:
            self.calls.add((self._test, module))


def main(folders: Sequence[str]) -> int:
    """Print the listed pairs that were not confirmed; returns 1 if there are any."""
    table = tomllib.loads((TESTS / "mirror.toml").read_text(encoding="utf-8"))["tested_by"]
    prefixes = tuple(folder.rstrip("/") for folder in folders)
    pairs = [
        (test, module)
        for module, tests in table.items()
        if not prefixes or module.startswith(prefixes)
        for test in tests
    ]
    if not pairs:
        print(f"no module of {', '.join(folders)} is listed in tests/mirror.toml")
        return 1
    trace = CallTrace()
    files = sorted({str(TESTS / test) for test, _ in pairs})
    os.chdir(REPOSITORY)
    pytest.main(["-q", "-p", "no:cacheprovider", *files], plugins=[trace])
    silent = [pair for pair in pairs if pair not in trace.calls]
    for test, module in silent:
        print(f"{test} does not call {module}")
    print(f"{len(pairs) - len(silent)} of {len(pairs)} pairs confirmed")
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
