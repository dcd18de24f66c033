"""Trials in folders: all recordings of a folder, and its static trial by name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from homodyn.errors import FormatError
from homodyn.foundation import Record, count_of, record

TRIAL_SUFFIXES = (".c3d", ".trc")
STATIC_NAME = re.compile(r"static|standing|(?<![a-z])stand(?![a-z])|t[-_ ]?pose|calib", re.I)
"""Names of trials in which the subject stands still."""


@record
class TrialSelection(Record):
    """The recordings to analyze and the static trial to scale from."""

    trials: tuple[str, ...]
    """Files of the trials."""
    static: str | None
    """The static trial; None if there is none."""
    notes: tuple[str, ...] = ()
    """Decisions, one sentence each."""

    def headline(self) -> str:
        """Number of trials and the static trial."""
        trials = count_of(len(self.trials), "trial")
        return f"TrialSelection: {trials}, static trial {self.static or 'none'}"


def select_trials(
    sources: str | Path | Sequence[str | Path], static: str | Path | None = None
) -> TrialSelection:
    """Resolve files and folders into trials; a folder stands for all .c3d and .trc files in it.

    A trial of a folder whose name says that the subject stands still (static, standing, t-pose,
    calib) is the static trial, unless ``static`` names one. Where a folder has the same trial as
    .c3d and .trc, the .c3d file is taken.

    Args:
        sources: A file, a folder, or several of both.
        static: The static trial, where it is known.

    Returns:
        The trials in the order of ``sources``, those of a folder by name.

    Raises:
        FormatError: A folder has no recordings, or several that may be the static trial.
    """
    if isinstance(sources, str | Path):
        sources = [sources]
    trials: list[str] = []
    found: list[Path] = []
    notes: list[str] = []
    known = None if static is None else Path(static).resolve()
    for source in sources:
        path = Path(source)
        if not path.is_dir():
            trials.append(str(source))
            continue
        recordings = _recordings(path)
        moving = [
            file
            for file in recordings
            if not STATIC_NAME.search(file.stem) and file.resolve() != known
        ]
        found += [file for file in recordings if STATIC_NAME.search(file.stem)]
        if not moving:
            suffixes = " or ".join(TRIAL_SUFFIXES)
            other = " except static trials" if recordings else ""
            raise FormatError(f"this folder has no {suffixes} files{other}", str(path))
        trials += [str(file) for file in moving]
    if static is None and len(found) > 1:
        names = ", ".join(str(file) for file in found)
        raise FormatError(
            f"several trials may be the static one ({names}); choose it with --static, or with "
            "`static` of the settings"
        )
    if static is None and found:
        notes.append(f"Static trial: {found[0]} (by its name).")
        static = found[0]
    return TrialSelection(tuple(trials), None if static is None else str(static), tuple(notes))


def _recordings(folder: Path) -> list[Path]:
    """Recordings of a folder, one per stem, by name."""
    by_stem: dict[str, Path] = {}
    for suffix in TRIAL_SUFFIXES:
        for file in sorted(folder.iterdir()):
            if file.suffix.lower() == suffix and file.is_file():
                by_stem.setdefault(file.stem, file)
    return [by_stem[stem] for stem in sorted(by_stem)]
