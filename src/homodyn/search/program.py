"""Candidates evaluated by another program, in any language.

The program is started once a candidate. It reads one task as JSON from standard input and writes
one result as JSON to standard output (Tables 3.3 and 3.4 of van den Kieboom 2014)::

    {"id": "7.12", "dispatcher": "walker", "parameters": {"k": 1.5}, "structure": {},
     "settings": {}, "seed": 4}
    {"id": "7.12", "status": "success", "fitness": {"speed": 1.2}, "data": {"steps": 9}}

Any other status than "success" is a failure, with "message" as its reason. What it writes to
standard error is kept when it fails.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from homodyn.search.limits import TimeLimit

LONGEST_MESSAGE = 500


class ProgramFailed(Exception):
    """A program that could not be started, ended badly, or did not answer."""


class OutOfMemory(Exception):
    """A program that ended for lack of memory."""


def run_program(
    command: Sequence[str],
    task: Mapping[str, Any],
    *,
    folder: Path | None,
    time_limit: float | None,
    memory_limit: float | None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Fitness and data that a program answers a task with; limits in s and MB."""
    words = list(command)
    if memory_limit is not None and shutil.which("sh"):
        limit = f'ulimit -v {int(memory_limit * 1024)} && exec "$@"'
        words = ["sh", "-c", limit, "sh", *words]
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            text=True,
            # A group of its own, so that what the program starts ends with it.
            start_new_session=True,
        )
    except OSError as error:
        raise ProgramFailed(f"{command[0]!r} cannot be started: {error.strerror}") from None
    try:
        written, errors = process.communicate(json.dumps(task) + "\n", timeout=time_limit)
    except subprocess.TimeoutExpired:
        _end(process)
        raise TimeLimit from None
    except BaseException:
        _end(process)
        raise
    if process.returncode:
        told = _last(errors)
        if memory_limit is not None and _lacked_memory(process.returncode, errors):
            raise OutOfMemory(told)
        ended = (
            f"was ended by signal {-process.returncode}"
            if process.returncode < 0
            else f"ended with code {process.returncode}"
        )
        raise ProgramFailed(f"{command[0]!r} {ended}" + (f": {told}" if told else ""))
    return _answer(command[0], written, task["id"])


def _answer(name: str, written: str, task: str) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        answer = json.loads(written)
    except ValueError:
        raise ProgramFailed(
            f"{name!r} did not answer with JSON but with {_last(written)!r}"
        ) from None
    if not isinstance(answer, dict):
        raise ProgramFailed(f"{name!r} did not answer with a JSON object")
    if answer.get("id", task) != task:
        raise ProgramFailed(f"{name!r} answered task {answer['id']!r}, not {task!r}")
    if answer.get("status", "success") != "success":
        raise ProgramFailed(str(answer.get("message", answer["status"]))[:LONGEST_MESSAGE])
    fitness, data = answer.get("fitness"), answer.get("data", {})
    if not isinstance(fitness, dict):
        raise ProgramFailed(f"{name!r} answered without an object 'fitness'")
    return fitness, data if isinstance(data, dict) else {"data": data}


def _end(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError, AttributeError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.communicate()


def _lacked_memory(code: int, errors: str) -> bool:
    words = ("memory", "bad_alloc", "MemoryError", "alloc")
    return any(word in errors for word in words) or code in (-signal.SIGKILL, 137)


def _last(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].strip()[:LONGEST_MESSAGE] if lines else ""
