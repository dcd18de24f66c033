"""Fuzzing of one reader: each input in a process with limits of processor time and memory."""

import contextlib
import faulthandler
import os
import random
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fuzz import mutators
from fuzz.targets import TARGETS, SilentError, Target
from homodyn.errors import MAX_MESSAGE_BYTES, HomodynError, escape_controls

HANG_S = 10.0
"""Processor time (s) after which a reader counts as hanging."""
KILL_S = 25.0
"""Processor time (s) after which a reader in a library, where no signal arrives, is ended."""
WAIT_S = 300
"""Time (s) after which a reader that waits without using the processor is ended."""
MAX_MEMORY_BYTES = 4 << 30
CUTS = {mutators.cut, mutators.cut_last_row}
OUTCOMES = ("accepted", "refused", "traceback", "hang", "crash", "silent", "warning", "message")
FINDINGS = OUTCOMES[2:]


class HangError(BaseException):
    """A reader took longer than `HANG_S`."""


@dataclass
class Report:
    """Counts of outcomes, and the findings."""

    counts: Counter = field(default_factory=Counter)
    findings: list[tuple[str, int, str]] = field(default_factory=list)
    """Outcome, number of the input, and what happened."""
    unforeseen: int = 0
    """Refused inputs whose failure the reader itself did not foresee."""
    seconds: float = 0.0
    """Processor time (s)."""
    slowest: float = 0.0
    """Processor time (s) of the slowest input."""

    @property
    def inputs(self) -> int:
        return self.counts.total()


def mutated_input(target: Target, files: tuple[bytes, ...], seed: int, number: int):
    """The input of a number: the same for the same seed on every machine."""
    source = random.Random(f"{seed}/{target.name}/{number}")
    return mutators.mutate(files, target.mutators, source)


def run_one(target: Target, path: Path, data: bytes, seed_file: bytes, chosen) -> tuple[str, str]:
    """The outcome of one input, and a sentence where it is a finding."""
    for left in path.parent.glob(f"{path.name}-*"):
        left.unlink()
    path.write_bytes(data)
    signal.alarm(WAIT_S)
    signal.setitimer(signal.ITIMER_PROF, HANG_S)
    signal.setitimer(signal.ITIMER_VIRTUAL, KILL_S)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = target.read(path)
            target.check(result)
            if target.is_prefix is not None and data != seed_file and set(chosen) <= CUTS:
                path.write_bytes(seed_file)
                if not target.is_prefix(target.read(path), result):
                    return "silent", f"a cut of {len(seed_file) - len(data)} bytes is accepted"
        if caught:
            return "warning", f"{caught[0].category.__name__}: {caught[0].message}"
        return "accepted", ""
    except SilentError as error:
        return "silent", str(error)
    except HomodynError as error:
        return _refusal(error, (path.stem, path.suffix, *target.places))
    except HangError:
        return "hang", "".join(traceback.format_exc(limit=-4))
    except Exception:
        return "traceback", "".join(traceback.format_exc(limit=-4))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.alarm(0)


def _refusal(error: HomodynError, places: tuple[str, ...]) -> tuple[str, str]:
    sentence = str(error)
    if len(sentence.encode("utf-8", "replace")) > MAX_MESSAGE_BYTES:
        return "message", f"{len(sentence)} characters: {sentence[:200]}"
    if not any(place in sentence for place in places):
        return "message", f"the file is not named: {sentence[:300]}"
    if escape_controls(sentence) != sentence:
        return "message", f"control characters: {sentence[:300]!r}"
    cause = error.__cause__
    unforeseen = isinstance(cause, AttributeError | TypeError | IndexError | KeyError | ValueError)
    return "refused", "unforeseen" if unforeseen and f"({type(cause).__name__})" in sentence else ""


def valid_files(target: Target, folder: Path | None) -> tuple[bytes, ...]:
    """The seeds of a target: its own, and files of a folder that it accepts."""
    files = list(target.seeds())
    with tempfile.TemporaryDirectory() as scratch:
        target.companions(Path(scratch))
        path = Path(scratch) / f"input{target.suffix}"
        for content in files:
            path.write_bytes(content)
            if target.name not in ("cdn",):
                target.check(target.read(path))
        for other in sorted(folder.rglob(f"*{target.suffix}")) if folder else ():
            if other.stat().st_size < 250_000:
                path.write_bytes(other.read_bytes())
                with contextlib.suppress(HomodynError, SilentError):
                    target.check(target.read(path))
                    files.append(other.read_bytes())
    return tuple(files)


def fuzz(
    name: str,
    inputs: int,
    *,
    seed: int = 1,
    seconds: float = float("inf"),
    folder: Path | None = None,
    keep: Path | None = None,
) -> Report:
    """Fuzz one reader.

    Args:
        name: Name of the target.
        inputs: Number of inputs.
        seed: Seed of the inputs.
        seconds: Processor time (s) after which no further input is read.
        folder: Folder with further valid files.
        keep: Folder in which inputs with findings are stored.

    Returns:
        The report.
    """
    target = TARGETS[name]
    report = Report()
    files = valid_files(target, folder)
    number = 0
    while number < inputs and report.seconds < seconds:
        child = _run_child(target, files, seed, number, inputs, seconds - report.seconds)
        for done, outcome, sentence, used in child:
            report.seconds += used
            report.slowest = max(report.slowest, used)
            number = done + 1
            report.counts[outcome] += 1
            report.unforeseen += outcome == "refused" and bool(sentence)
            if outcome in FINDINGS:
                report.findings.append((outcome, done, sentence))
                if keep is not None:
                    data, *_ = mutated_input(target, files, seed, done)
                    keep.mkdir(parents=True, exist_ok=True)
                    (keep / f"{name}-{done}{target.suffix}").write_bytes(data)
    return report


def _run_child(
    target, files, seed, first, inputs, seconds
) -> Iterator[tuple[int, str, str, float]]:
    """Outcomes of inputs in a forked process, until all are done or the process dies."""
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        os.close(reader)
        _child(writer, target, files, seed, first, inputs, seconds)
    os.close(writer)
    number = first
    with os.fdopen(reader, encoding="utf-8", errors="replace") as stream:
        for line in stream:
            outcome, sentence, used = line.rstrip("\n").split("\x1f")
            yield number, outcome, sentence.replace("\x1e", "\n"), float(used)
            number += 1
    _, status = os.waitpid(process, 0)
    if status:
        code = os.waitstatus_to_exitcode(status)
        outcome = "hang" if -code in (signal.SIGVTALRM, signal.SIGALRM) else "crash"
        yield number, outcome, f"the process ended with code {code}", 0.0


def _child(writer, target, files, seed, first, inputs, seconds) -> None:
    def hang(*_):
        raise HangError

    faulthandler.disable()
    signal.signal(signal.SIGPROF, hang)
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    status = 1
    try:
        with tempfile.TemporaryDirectory() as folder, os.fdopen(writer, "w") as stream:
            target.companions(Path(folder))
            path = Path(folder) / f"input{target.suffix}"
            for number in range(first, inputs):
                began = _processor_time()
                data, seed_file, chosen = mutated_input(target, files, seed, number)
                outcome, sentence = run_one(target, path, data, seed_file, chosen)
                took = _processor_time() - began
                text = sentence.replace("\n", "\x1e").replace("\r", " ").replace("\x1f", " ")
                text = text.encode("utf-8", "replace").decode()
                stream.write(f"{outcome}\x1f{text}\x1f{took}\n")
                stream.flush()
                seconds -= took
                if seconds <= 0:
                    break
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _processor_time() -> float:
    """Processor time (s) of this process and of those that it started."""
    return sum(os.times()[:4])
