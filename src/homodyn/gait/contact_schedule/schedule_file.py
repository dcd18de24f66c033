"""Contact schedules as tables: begin and end of each phase, and the contacts of both feet.

begin (s),end (s),right,left
0.409,0.701,flat,swing
0.701,0.822,forefoot,swing
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from homodyn.errors import FormatError
from homodyn.foundation.files import write_text
from homodyn.foundation.guarded_read import guarded_reader
from homodyn.foundation.text import unknown_name
from homodyn.gait.contact_schedule.foot_contact_phases import FootContact, FootContactPhase

HEADER = ("begin (s)", "end (s)", "right", "left")
MAX_PHASE_GAP_S = 1e-6
"""Largest gap between the end of a phase and the start of the next."""


@guarded_reader("contact schedule")
def read_contact_schedule(path: str | Path) -> tuple[FootContactPhase, ...]:
    """Read a contact schedule.

    Args:
        path: A CSV file with the columns ``begin (s)``, ``end (s)``, ``right``, ``left``.

    Returns:
        The phases in the order of time.

    Raises:
        FormatError: The file cannot be read, has gaps, or names an unknown contact.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text file"
        raise FormatError(f"the contact schedule cannot be read: {reason}", str(path)) from error
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.startswith("#")
    ]
    head = [word.split("(")[0].strip() for word in lines[0][1].split(",")] if lines else []
    if head != [word.split("(")[0].strip() for word in HEADER]:
        raise FormatError(f"the heading must be {','.join(HEADER)}", str(path), "line 1")
    phases: list[FootContactPhase] = []
    for number, line in lines[1:]:
        location = f"line {number}"
        phase = _contact_phase(next(csv.reader([line])), str(path), location)
        if phases and abs(phase.begin - phases[-1].end) > MAX_PHASE_GAP_S:
            raise FormatError(
                f"the phase begins at {phase.begin:g} s, but the one before ends at "
                f"{phases[-1].end:g} s",
                str(path),
                location,
            )
        phases.append(phase)
    if not phases:
        raise FormatError("there are no phases in the file", str(path))
    return tuple(phases)


def write_contact_schedule(phases: Sequence[FootContactPhase], path: str | Path) -> None:
    """Write a contact schedule that `read_contact_schedule` reads.

    Args:
        phases: The phases in the order of time.
        path: The file to write.

    Raises:
        FormatError: The file cannot be written.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows([f"{f.begin:.9g}", f"{f.end:.9g}", str(f.right), str(f.left)] for f in phases)
    write_text(path, stream.getvalue())


def _contact_phase(cells: Sequence[str], path: str, location: str) -> FootContactPhase:
    if len(cells) != len(HEADER):
        raise FormatError(f"{len(cells)} cells under {len(HEADER)} headings", path, location)
    try:
        begin, end = float(cells[0]), float(cells[1])
    except ValueError as error:
        raise FormatError(f"a time is not a number: {error}", path, location) from error
    if not 0 <= begin < end < float("inf"):
        raise FormatError(f"a phase cannot last from {cells[0]} to {cells[1]} s", path, location)
    contacts = []
    for name in (cell.strip() for cell in cells[2:]):
        if name not in set(FootContact):
            raise FormatError(unknown_name("foot contact", name, FootContact), path, location)
        contacts.append(FootContact(name))
    right, left = contacts
    return FootContactPhase(begin, end, right, left)
