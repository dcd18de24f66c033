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
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from homodyn.search.resource_limits import TimeLimit

MAX_MESSAGE_CHARACTERS = 500
MAX_ANSWER_BYTES = 64 * 2**20
"""Bytes that a program may write; one that writes on and on has gone wrong."""


class ProgramError(Exception):
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
            # A group of its own, so that what the program starts ends with it.
            start_new_session=True,
        )
    except OSError as error:
        raise ProgramError(f"{command[0]!r} cannot be started: {error.strerror}") from None
    try:
        written, errors = _conversation(process, json.dumps(task) + "\n", time_limit)
    except BaseException:
        _end(process)
        raise
    if written is None:
        raise ProgramError(f"{command[0]!r} wrote more than {MAX_ANSWER_BYTES // 2**20} MB")
    if process.returncode:
        told = _last(errors)
        if memory_limit is not None and _lacked_memory(process.returncode, errors):
            raise OutOfMemory(told)
        ended = (
            f"was ended by signal {-process.returncode}"
            if process.returncode < 0
            else f"ended with code {process.returncode}"
        )
        raise ProgramError(f"{command[0]!r} {ended}" + (f": {told}" if told else ""))
    return _answer(command[0], written, task["id"])


def _conversation(
    process: subprocess.Popen[bytes], told: str, time_limit: float | None
) -> tuple[str | None, str]:
    """What a program writes to its output and its errors when told something.

    None for an output without end, at which it was stopped: it would fill the memory.
    """
    talking = threading.Thread(target=_write_input, args=(process, told.encode()), daemon=True)
    ears = [_OutputReader(process, process.stdout), _OutputReader(process, process.stderr)]
    since = time.monotonic()
    for thread in (talking, *ears):
        thread.start()
    # What the program started may write on when it has ended itself.
    for thread in ears:
        thread.join(None if time_limit is None else time_limit - (time.monotonic() - since))
        if thread.is_alive():
            raise TimeLimit
    left = None if time_limit is None else max(time_limit - (time.monotonic() - since), 0.0)
    try:
        process.wait(left)
    except subprocess.TimeoutExpired:
        raise TimeLimit from None
    written, errors = (bytes(ear.heard).decode("utf-8", "replace") for ear in ears)
    return (None if any(ear.full for ear in ears) else written), errors


def _write_input(process: subprocess.Popen[bytes], told: bytes) -> None:
    """A program need not listen."""
    assert process.stdin is not None
    with contextlib.suppress(OSError), process.stdin:
        process.stdin.write(told)


class _OutputReader(threading.Thread):
    """Hears what a program writes, and ends a program that does not stop."""

    def __init__(self, process: subprocess.Popen[bytes], stream: IO[bytes] | None) -> None:
        super().__init__(daemon=True)
        assert stream is not None
        self._process, self._stream = process, stream
        self.heard = bytearray()
        self.full = False

    def run(self) -> None:
        with self._stream:
            while chunk := os.read(self._stream.fileno(), 2**16):
                self.heard += chunk
                if len(self.heard) > MAX_ANSWER_BYTES:
                    self.full = True
                    _kill(self._process)
                    return


def _answer(name: str, written: str, task: str) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        answer = json.loads(written)
    except ValueError:
        raise ProgramError(
            f"{name!r} did not answer with JSON but with {_last(written)!r}"
        ) from None
    if not isinstance(answer, dict):
        raise ProgramError(f"{name!r} did not answer with a JSON object")
    if answer.get("id", task) != task:
        raise ProgramError(f"{name!r} answered task {answer['id']!r}, not {task!r}")
    if answer.get("status", "success") != "success":
        raise ProgramError(str(answer.get("message", answer["status"]))[:MAX_MESSAGE_CHARACTERS])
    fitness, data = answer.get("fitness"), answer.get("data", {})
    if not isinstance(fitness, dict):
        raise ProgramError(f"{name!r} answered without an object 'fitness'")
    return fitness, data if isinstance(data, dict) else {"data": data}


def _end(process: subprocess.Popen[bytes]) -> None:
    _kill(process)
    process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a program and all it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError, AttributeError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def _lacked_memory(code: int, errors: str) -> bool:
    words = ("memory", "bad_alloc", "MemoryError", "alloc")
    return any(word in errors for word in words) or code in (-signal.SIGKILL, 137)


def _last(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].strip()[:MAX_MESSAGE_CHARACTERS] if lines else ""
