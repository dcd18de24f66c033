"""The folder of a validation: a page, tables of all deviations, and a summary."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from homodyn import __version__
from homodyn.analysis.result_files import PAGE, SUMMARY, is_result
from homodyn.analysis.result_tables import write_rows
from homodyn.analysis.validation import CENTER_JOINTS, Deviation, ValidationRow
from homodyn.foundation import atomic_folder, count_of
from homodyn.report import page_text
from homodyn.report.html import (
    Cell,
    Markup,
    details,
    number,
    page_html,
    paragraph,
    sections_html,
    table,
)

TABLE_FILE, RECORDINGS_FILE, DEVIATIONS_FILE = "table.md", "recordings.csv", "deviations.csv"
COLUMNS = (
    "recording",
    "model",
    "marker error (mm)",
    "sagittal bias, mean (deg)",
    "sagittal bias, largest (deg)",
    "sagittal bias to expert, mean (deg)",
    "sagittal bias to expert, largest (deg)",
    "after pelvis convention, mean (deg)",
    "after pelvis convention, largest (deg)",
    "hips (mm)",
    "knees (mm)",
    "ankles (mm)",
    "angles rms (deg)",
    "torques rms (N m)",
    "residual force (N)",
    "residual moment (N m)",
    "verdict",
)
"""Headings of the table with one row per recording and model."""
EXPLANATION = (
    "Model scaled: the generic model, scaled to the person from the static trial and the movement; "
    "expert: the model that an expert scaled, with the expert's marker weights; catalog: a body of "
    "the catalog. Bias is the mean over time of result minus reference, or minus the fit of the "
    "expert's model to the same markers; the sagittal angles are pelvis tilt and flexion of hips, "
    "knees and ankles. The axes of two pelvises can differ relative to the same landmarks: this "
    "constant, the pelvis convention, is subtracted from pelvis tilt and added to hip flexion. "
    "Hips, knees and ankles are mean distances of joint centers from those of the expert's fit. "
    "An expert's model is a reference, not the truth: pelvis and joint zeros of two models can "
    "differ. Results are low-pass filtered, as those of homodyn analyze."
)


def write_validation(
    rows: Sequence[ValidationRow], folder: str | Path, *, overwrite: bool = False
) -> Path:
    """Write the page, tables and summary of a validation, completely or not at all.

    Args:
        rows: The result of `homodyn.analysis.validation.validate`.
        folder: The folder to write; its parents are created.
        overwrite: Replace a folder that already contains a result.

    Returns:
        The page.

    Raises:
        FormatError: The folder exists and may not be replaced, or cannot be written.
    """
    folder = Path(folder)
    with atomic_folder(folder, overwrite=overwrite, is_replaceable=is_result) as temporary:
        (temporary / PAGE).write_text(validation_page(rows), encoding="utf-8")
        (temporary / TABLE_FILE).write_text(validation_markdown(rows), encoding="utf-8")
        write_rows(
            temporary / RECORDINGS_FILE,
            (*COLUMNS, "reference", "reason", "notes"),
            [
                (*validation_cells(row, ""), row.reference, row.reason, " ".join(row.notes))
                for row in rows
            ],
        )
        write_rows(
            temporary / DEVIATIONS_FILE,
            ("recording", "model", "reference", "quantity", "coordinate", "unit", "bias", "rms"),
            [line for row in rows for line in _deviation_lines(row)],
        )
        text = json.dumps(validation_summary(rows), indent=2, allow_nan=False)
        (temporary / SUMMARY).write_text(text + "\n", encoding="utf-8")
    return folder / PAGE


def validation_summary(rows: Sequence[ValidationRow]) -> dict[str, Any]:
    """All rows in plain numbers: marker errors in m, angles in deg, torques in N m.

    Args:
        rows: The rows.

    Returns:
        Plain data.
    """
    return {
        "version": __version__,
        "recordings": [
            {
                "recording": row.recording,
                "model": row.method,
                "reference": row.reference or None,
                "marker_rms": row.marker_rms,
                "angles": [_deviation_data(each) for each in row.angles],
                "expert_angles": [_deviation_data(each) for each in row.expert_angles],
                "pelvis_convention": row.pelvis_convention,
                "centers": dict(row.centers),
                "torques": [_deviation_data(each) for each in row.torques],
                "residual_force": row.residual_force,
                "residual_moment": row.residual_moment,
                "light": row.light or None,
                "reason": row.reason,
                "notes": list(row.notes),
            }
            for row in rows
        ],
    }


def validation_markdown(rows: Sequence[ValidationRow]) -> str:
    """The table with one row per recording and model, in Markdown.

    Args:
        rows: The rows.

    Returns:
        The text.
    """
    lines = [
        f"| {' | '.join(COLUMNS)} |",
        f"|{'---|' * len(COLUMNS)}",
        *(f"| {' | '.join(validation_cells(row))} |" for row in rows),
    ]
    failed = [f"- {row.recording} ({row.method}): {row.reason}" for row in rows if row.failed]
    text = "\n".join(lines) + "\n"
    return f"{text}\nWithout a result:\n\n" + "\n".join(failed) + "\n" if failed else text


def validation_page(rows: Sequence[ValidationRow]) -> str:
    """The page: a table of all recordings, and the deviations of each.

    Args:
        rows: The rows.

    Returns:
        HTML of the page.
    """
    columns = [(head, "" if head in ("recording", "model", "verdict") else "n") for head in COLUMNS]
    overview: list[list[Cell]] = []
    for row in rows:
        *numbers, verdict = validation_cells(row)
        shown = Markup(escape(verdict))
        if not row.failed:
            shown = Markup(f'<span class="light {row.light}">{page_text.LIGHTS[row.light]}</span>')
        overview.append([*numbers, shown])
    sections = {
        "recordings": ("Recordings", paragraph(EXPLANATION) + table(columns, overview)),
        "details": ("Deviations", "".join(_row_details(row) for row in rows)),
    }
    links, body = sections_html(sections)
    files = len({row.recording for row in rows})
    failed = sum(row.failed for row in rows)
    subtitle = f"{count_of(files, 'recording')}, {count_of(len(rows), 'analysis', 'analyses')}"
    if failed:
        subtitle += f", {failed} without a result"
    return page_html(
        "Validation",
        "Validation",
        subtitle,
        body,
        navigation=links,
        footer=f"Homodyn {__version__}",
    )


def _row_details(row: ValidationRow) -> str:
    """Reason, notes and all deviations of one row, hidden until it is opened."""
    content = paragraph(row.reason)
    for note in row.notes:
        content += paragraph(note)
    if row.reference:
        content += paragraph(f"Reference: {row.reference}.")
    for title, unit, found in (
        ("Angles", "deg", row.angles),
        ("Angles, against the fit of the expert's model", "deg", row.expert_angles),
        ("Torques", "N m", row.torques),
    ):
        if found:
            content += table(
                [("coordinate", ""), (f"bias ({unit})", "n"), (f"rms ({unit})", "n")],
                [[d.name, number(d.bias), number(d.rms)] for d in found],
                title,
            )
    return details(f"{row.recording}, {row.method}: {row.light or 'no result'}", content)


def validation_cells(row: ValidationRow, blank: str = "–") -> list[str]:
    """The cells of a row of the table.

    Args:
        row: The row.
        blank: Text where there is no value.

    Returns:
        One text per heading of `COLUMNS`.
    """
    adjusted = row.adjusted_sagittal if row.pelvis_convention is not None else ()
    biases = [
        [abs(d.bias) for d in found] for found in (row.sagittal, row.expert_sagittal, adjusted)
    ]
    centers = [row.centers.get(name) for name in CENTER_JOINTS]
    values = [
        (None if row.marker_rms is None else 1000 * row.marker_rms, 1),
        *(
            (value, 1)
            for found in biases
            for value in (sum(found) / len(found) if found else None, max(found, default=None))
        ),
        *((None if value is None else 1000 * value, 0) for value in centers),
        (_pooled_rms(row.angles), 1),
        (_pooled_rms(row.torques), 1),
        (row.residual_force, 0),
        (row.residual_moment, 0),
    ]
    texts = [blank if value is None else f"{value:.{digits}f}" for value, digits in values]
    return [row.recording, row.method, *texts, row.light or "no result"]


def _pooled_rms(found: Sequence[Deviation]) -> float | None:
    """Root mean square over all coordinates; None without any."""
    if not found:
        return None
    return float((sum(d.rms**2 for d in found) / len(found)) ** 0.5)


def _deviation_lines(row: ValidationRow) -> list[tuple[str, ...]]:
    return [
        (
            row.recording,
            row.method,
            row.reference,
            kind,
            d.name,
            unit,
            f"{d.bias:.6g}",
            f"{d.rms:.6g}",
        )
        for kind, unit, found in (
            ("angle", "deg", row.angles),
            ("angle to expert", "deg", row.expert_angles),
            ("torque", "N m", row.torques),
        )
        for d in found
    ]


def _deviation_data(found: Deviation) -> dict[str, Any]:
    return {"coordinate": found.name, "bias": found.bias, "rms": found.rms}
