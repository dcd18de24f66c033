"""How many planted faults are found, and how many good recordings are falsely accused."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from homodyn.analysis.fault_outcome import LEFT_OUT_KIND, FaultCase, FaultOutcome, StudySize
from homodyn.analysis.fault_subjects import SubjectSource, find_sources, load_subject
from homodyn.analysis.subject_faults import study_subject
from homodyn.analysis.validation_cases import ValidationCase
from homodyn.errors import CaptureError, HomodynError
from homodyn.foundation import write_text
from homodyn.foundation.executors import ProcessExecutor


def study_faults(
    cases: Sequence[ValidationCase],
    root: str | Path,
    size: StudySize | None = None,
    *,
    jobs: int = 1,
    finished: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> tuple[FaultCase, ...]:
    """Plant faults in good recordings, and count what becomes of them.

    Faults of axes, labels and units go through the checks of a recording that `analyze` makes; what
    these do not find, and faults of forces, mass, rate, belt and visible body, through whole
    analyses. Recordings that have errors themselves are left out, with the reason.

    Args:
        cases: The recordings, with models that fit them where there are any.
        root: The data folder, from which the names of recordings start.
        size: Number of faults.
        jobs: Processes that work at once.
        finished: Folder for the rows of finished recordings; a study of the same size continues
            from it. None keeps them in memory.
        progress: Called with a line after each recording.

    Returns:
        One entry per fault and per harmless change, in the order of the recordings.

    Raises:
        CaptureError: The number of processes is not positive.
    """
    if jobs < 1:
        raise CaptureError(f"jobs is {jobs}; expected 1 or more processes")
    size = size or StudySize()
    sources = find_sources(cases, root, size.persons, size.seed)
    rows: dict[int, tuple[FaultCase, ...]] = {}
    store = None if finished is None else _RowStore(Path(finished), size)
    if store is not None:
        known = {k: store.read(source) for k, source in enumerate(sources)}
        rows = {k: found for k, found in known.items() if found is not None}
    waiting = [k for k in range(len(sources)) if k not in rows]
    if progress is not None and rows:
        progress(f"{len(rows)} of {len(sources)} were finished before")
    for index, found in _run([sources[k] for k in waiting], size, min(jobs, len(waiting) or 1)):
        k = waiting[index]
        rows[k] = found
        if store is not None:
            store.write(sources[k], found)
        if progress is not None:
            progress(f"{len(rows)} of {len(sources)}: {sources[k].name}")
    return tuple(row for k in range(len(sources)) for row in rows[k])


def _run(
    sources: Sequence[SubjectSource], size: StudySize, jobs: int
) -> Iterator[tuple[int, tuple[FaultCase, ...]]]:
    """Index and rows of each source, as they are ready."""
    if jobs == 1:
        for k, source in enumerate(sources):
            yield k, _study_source(source, size)
        return
    threads = max((os.cpu_count() or 1) // jobs, 1)
    with ProcessExecutor(jobs, threads=threads) as executor:
        for result in executor.map_unordered(partial(_study_source, size=size), sources):
            if result.value is not None:
                yield result.index, result.value
            else:
                reason = " ".join(str(result.error).split())
                yield result.index, (_left_out(sources[result.index], reason),)


def _study_source(source: SubjectSource, size: StudySize) -> tuple[FaultCase, ...]:
    """The rows of one recording; a recording that cannot be studied is one row."""
    try:
        return study_subject(load_subject(source), size)
    except HomodynError as error:
        return (_left_out(source, str(error)),)


def _left_out(source: SubjectSource, reason: str) -> FaultCase:
    return FaultCase(source.name, LEFT_OUT_KIND, "", FaultOutcome.REFUSED, reason)


class _RowStore:
    """A folder with the rows of finished recordings, each under the digest of what it depends on.

    Rows of other files, sizes or versions have other names and are not read.
    """

    def __init__(self, folder: Path, size: StudySize) -> None:
        self.folder, self.size = folder, size

    def read(self, source: SubjectSource) -> tuple[FaultCase, ...] | None:
        """The rows of a recording; None if it is not finished."""
        try:
            rows = json.loads(self._file(source).read_text(encoding="utf-8"))
            return tuple(
                FaultCase(**{**row, "outcome": FaultOutcome(row["outcome"])}) for row in rows
            )
        except (OSError, ValueError, TypeError, KeyError):
            return None  # Not finished, or damaged: the recording is studied again.

    def write(self, source: SubjectSource, rows: Sequence[FaultCase]) -> None:
        """Store the rows of a recording."""
        self.folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps([asdict(row) for row in rows], indent=1)
        write_text(self._file(source), text + "\n")

    def _file(self, source: SubjectSource) -> Path:
        try:
            content = source.fingerprint()
        except HomodynError:
            content = source.name  # A file is missing; the study says so.
        digest = hashlib.sha256(f"{content} {asdict(self.size)}".encode()).hexdigest()
        return self.folder / f"{digest[:24]}.json"
