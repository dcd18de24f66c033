"""The folder of a fault study: what became of planted faults, as tables and a page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from homodyn import __version__
from homodyn.analysis.fault_outcome import GOOD_KIND, LEFT_OUT_KIND, FaultCase, FaultOutcome
from homodyn.analysis.result_files import PAGE, SUMMARY, is_result
from homodyn.analysis.result_tables import write_rows
from homodyn.analysis.verdict import QualityLight
from homodyn.foundation import atomic_folder, count_of
from homodyn.report.html import page_html, paragraph, sections_html, table

FAULTS_FILE, TABLE_FILE = "faults.csv", "faults.md"
COLUMNS = ("fault", "planted", "corrected", "refused", "named", "missed", "in green", "found")
EXPLANATION = (
    "Corrected: undone with a note. Refused: an error names the reason. Named: a finding or a "
    "verdict that the good recording does not have names the reason, and the light is not green. "
    "Missed: neither; in green, with a green light. "
    "Good recordings are accused by an error, a correction, a refusal or a red light."
)


def write_fault_study(
    rows: Sequence[FaultCase], folder: str | Path, *, overwrite: bool = False
) -> Path:
    """Write the page and the tables of a fault study, completely or not at all.

    Args:
        rows: The result of `homodyn.analysis.study_faults`.
        folder: The folder to write; its parents are created.
        overwrite: Replace a folder that already contains a result.

    Returns:
        The page.

    Raises:
        FormatError: The folder exists and may not be replaced, or cannot be written.
    """
    folder = Path(folder)
    with atomic_folder(folder, overwrite=overwrite, is_replaceable=is_result) as temporary:
        (temporary / PAGE).write_text(_page(rows), encoding="utf-8")
        (temporary / TABLE_FILE).write_text(fault_markdown(rows), encoding="utf-8")
        write_rows(
            temporary / FAULTS_FILE,
            ("recording", "fault", "detail", "outcome", "reason", "light"),
            [(r.recording, r.kind, r.detail, str(r.outcome), r.reason, r.light) for r in rows],
        )
        text = json.dumps(fault_summary(rows), indent=2, allow_nan=False)
        (temporary / SUMMARY).write_text(text + "\n", encoding="utf-8")
    return folder / PAGE


def fault_summary(rows: Sequence[FaultCase]) -> dict[str, Any]:
    """Counts of all kinds of faults, and of accused good recordings.

    Args:
        rows: The rows.

    Returns:
        Plain data.
    """
    return {
        "version": __version__,
        "faults": [
            {
                "fault": kind,
                **{str(o): counts[o] for o in FaultOutcome},
                "missed_in_green": len(missed_in_green(rows, kind)),
                "found_share": share,
            }
            for kind, counts, share in _counts(rows)
        ],
        "good": {
            "checked": sum(row.kind == GOOD_KIND for row in rows),
            "accused": [
                {"recording": row.recording, "detail": row.detail, "reason": row.reason}
                for row in false_accusations(rows)
            ],
        },
        "left_out": [
            {"recording": row.recording, "reason": row.reason}
            for row in rows
            if row.kind == LEFT_OUT_KIND
        ],
    }


def false_accusations(rows: Sequence[FaultCase]) -> tuple[FaultCase, ...]:
    """Good recordings that were accused.

    Args:
        rows: The rows.

    Returns:
        Their rows.
    """
    return tuple(r for r in rows if r.kind == GOOD_KIND and r.outcome is not FaultOutcome.MISSED)


def missed_in_green(rows: Sequence[FaultCase], kind: str) -> tuple[FaultCase, ...]:
    """Missed faults of a kind whose whole analysis has a green light.

    Args:
        rows: The rows.
        kind: The kind of the fault.

    Returns:
        Their rows; faults that were not analyzed are not among them.
    """
    return tuple(
        r
        for r in rows
        if r.kind == kind and r.outcome is FaultOutcome.MISSED and r.light == str(QualityLight.GOOD)
    )


def fault_markdown(rows: Sequence[FaultCase]) -> str:
    """The table of the study in Markdown.

    Args:
        rows: The rows.

    Returns:
        A table with one line per kind of fault, and a sentence on good recordings.
    """
    lines = [
        f"| {' | '.join(COLUMNS)} |",
        "|---|" + "---:|" * (len(COLUMNS) - 1),
        *(f"| {' | '.join(cells)} |" for cells in _cells(rows)),
    ]
    return "\n".join([*lines, "", _good_sentence(rows), ""])


def _good_sentence(rows: Sequence[FaultCase]) -> str:
    good = sum(row.kind == GOOD_KIND for row in rows)
    names = {row.recording for row in rows if row.kind == GOOD_KIND}
    return (
        f"{count_of(len(false_accusations(rows)), 'version')} of {good} good versions of "
        f"{count_of(len(names), 'recording')} falsely accused."
    )


def _counts(rows: Sequence[FaultCase]) -> list[tuple[str, Counter[FaultOutcome], float]]:
    kinds = dict.fromkeys(r.kind for r in rows if r.kind not in (GOOD_KIND, LEFT_OUT_KIND))
    found = []
    for kind in kinds:
        counts = Counter(row.outcome for row in rows if row.kind == kind)
        total = sum(counts.values())
        found.append((kind, counts, 1 - counts[FaultOutcome.MISSED] / total))
    return found


def _cells(rows: Sequence[FaultCase]) -> list[tuple[str, ...]]:
    return [
        (
            kind,
            str(sum(counts.values())),
            *(str(counts[outcome]) for outcome in FaultOutcome),
            str(len(missed_in_green(rows, kind))),
            f"{100 * share:.1f} %",
        )
        for kind, counts, share in _counts(rows)
    ]


def _page(rows: Sequence[FaultCase]) -> str:
    headings = [(head, "n" if k else "") for k, head in enumerate(COLUMNS)]
    sections = {
        "faults": (
            "Planted faults",
            paragraph(EXPLANATION)
            + table(headings, _cells(rows))
            + paragraph(_good_sentence(rows)),
        )
    }
    missed = [
        (row.recording, row.kind, row.detail, row.light or "not analyzed")
        for row in rows
        if row.outcome is FaultOutcome.MISSED and row.kind != GOOD_KIND
    ]
    wrong = [(row.recording, row.detail, row.reason) for row in false_accusations(rows)]
    for key, title, heads, cells in (
        ("missed", "Missed", ("recording", "fault", "detail", "light"), missed),
        ("accused", "Falsely accused", ("recording", "version", "reason"), wrong),
    ):
        if cells:
            sections[key] = (title, table([(head, "") for head in heads], cells))
    links, body = sections_html(sections)
    planted = sum(row.kind not in (GOOD_KIND, LEFT_OUT_KIND) for row in rows)
    return page_html(
        "Fault study",
        "Fault study",
        count_of(planted, "planted fault"),
        body,
        navigation=links,
        footer=f"Homodyn {__version__}",
    )
