"""The folder of several reconstructed steps: an overview, and a folder for each step."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.analysis.provenance import software_versions
from homodyn.analysis.result_files import PAGE, SUMMARY, is_result
from homodyn.analysis.step_quality import (
    quality_summary,
    reconstruction_verdicts,
    sort_by_light,
)
from homodyn.analysis.verdict import QualityVerdict
from homodyn.foundation import atomic_folder, count_of
from homodyn.gait import Reconstruction
from homodyn.gait.reconstruction import PooledReconstruction
from homodyn.gait.reconstruction.load_sharing import LOAD_TRANSFER
from homodyn.motion.clinical import coordinate_label
from homodyn.report.html import Markup, page_html, sections_html, table, tile
from homodyn.report.reconstruction_folder import reconstruction_summary, write_reconstruction
from homodyn.report.verdict_list import verdicts_html


def write_pooled_reconstruction(
    result: PooledReconstruction,
    folder: str | Path,
    *,
    names: Sequence[str],
    settings: Mapping[str, Any] | None = None,
    overwrite: bool = False,
) -> Path:
    """Write an overview of several steps and a folder for each, completely or not at all.

    Args:
        result: What `homodyn.gait.reconstruction.reconstruct_steps` returned.
        folder: The folder to write; its parents are created.
        names: Name of the recording of each step; the folders are named after them.
        settings: Choices of the user, recorded in the summaries.
        overwrite: Replace a folder that already contains a result.

    Returns:
        The folder.

    Raises:
        FormatError: The folder exists and may not be replaced, or cannot be written.
    """
    folder, chosen = Path(folder), dict(settings or {})
    folders = step_folders(names)
    with atomic_folder(folder, overwrite=overwrite, is_replaceable=is_result) as temporary:
        for step, own, name in zip(result.steps, folders, names, strict=True):
            write_reconstruction(step, temporary / own, name=name, settings=chosen)
        page = _page(result, names, folders)
        (temporary / PAGE).write_text(page, encoding="utf-8")
        summary = pooled_summary(result, names, chosen)
        text = json.dumps(summary, indent=2, allow_nan=False, ensure_ascii=False)
        (temporary / SUMMARY).write_text(text + "\n", encoding="utf-8")
    return folder


def step_folders(names: Sequence[str]) -> list[str]:
    """Names of the folders of steps: number and name of the recording.

    Args:
        names: Name of the recording of each step.

    Returns:
        Names such as ``"1_walking"``.
    """
    return [f"{k + 1}_{name.replace('/', '_')}" for k, name in enumerate(names)]


def pooled_summary(
    result: PooledReconstruction, names: Sequence[str], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """The results of several steps as plain values; None where unknown.

    Args:
        result: What `homodyn.gait.reconstruction.reconstruct_steps` returned.
        names: Name of the recording of each step.
        settings: Choices of the user.

    Returns:
        Plain values for JSON.
    """
    solution = result.solution
    return {
        "complete": True,
        "kind": "reconstruction of several steps",
        "name": ", ".join(names),
        "settings": dict(settings),
        "versions": software_versions(),
        "status": result.status,
        "sentence": result.sentence,
        "quality": quality_summary(pooled_verdicts(result, names)),
        "shared": result.shared,
        "objective": solution.objective,
        "iterations": solution.iterations,
        "seconds": {key: round(value, 3) for key, value in solution.timings.items()},
        "unknowns": len(solution.transcribed.names),
        "steps": [
            {"folder": own, **reconstruction_summary(step, name, settings)}
            for step, own, name in zip(result.steps, step_folders(names), names, strict=True)
        ],
    }


def pooled_verdicts(
    result: PooledReconstruction, names: Sequence[str]
) -> tuple[QualityVerdict, ...]:
    """The verdicts of all steps, each with the name of its recording.

    Args:
        result: What `homodyn.gait.reconstruction.reconstruct_steps` returned.
        names: Name of the recording of each step.

    Returns:
        The verdicts, the worst first; that of the solution, which is one, occurs once.
    """
    found: list[QualityVerdict] = []
    for step, name in zip(result.steps, names, strict=True):
        for verdict in reconstruction_verdicts(step):
            if verdict.subject != "solution":
                found.append(replace(verdict, sentence=f"{name}: {verdict.sentence}"))
            elif not any(v.subject == "solution" for v in found):
                found.append(replace(verdict, sentence=result.solution.sentence))
    return sort_by_light(found)


def _page(result: PooledReconstruction, names: Sequence[str], folders: Sequence[str]) -> str:
    tiles = [
        tile(f"{len(result.steps)}", "", "steps in one problem"),
        tile(f"{result.solution.model.mass:.1f}", "kg", "mass of all steps"),
        tile(f"{result.solution.iterations}", "", "iterations"),
    ]
    if LOAD_TRANSFER in result.shared:
        half = 100 * _half_loaded(result.shared[LOAD_TRANSFER])
        tiles.append(tile(f"{half:.0f}", "% of double support", "when both feet carry half each"))
    rows = [
        [Markup(f'<a href="{escape(own)}/{PAGE}">{escape(name)}</a>'), *_cells(step)]
        for step, own, name in zip(result.steps, folders, names, strict=True)
    ]
    columns = [("recording", ""), ("span (s)", "n"), ("largest angle error", "")]
    columns += [("upward force, right / left (%)", "n"), ("forward", "n"), ("sideways", "n")]
    caption = "Errors of ground forces: root mean square against the plates, in % of body weight"
    glance = verdicts_html(pooled_verdicts(result, names), "".join(tiles))
    glance += table(columns, rows, caption)
    links, body = sections_html({"at-a-glance": ("At a glance", glance)})
    title = ", ".join(names)
    return page_html(
        f"{title}: reconstructed steps",
        title,
        f"{count_of(len(result.steps), 'step')} of one person · {result.status}",
        body,
        navigation=links,
        footer=f"Written by Homodyn {software_versions()['homodyn']}.",
    )


def _half_loaded(shape: float) -> float:
    """Elapsed share of double support at which both feet carry half of the load."""
    # s + c s (1 - s) = 1/2, in the form that also holds for c = 0.
    return 1.0 / ((1 + shape) + ((1 + shape) ** 2 - 2 * shape) ** 0.5)


def _cells(step: Reconstruction) -> list[str]:
    """Span, tracking and force errors of a step."""
    begin, end = step.contact_phases[0].begin, step.contact_phases[-1].end
    largest = step.largest_errors.get("rad")
    tracking = "–"
    if largest is not None:
        name, error = largest
        tracking = f"{np.degrees(error):.2g}° ({coordinate_label(step.recorded.model, name)})"
    errors = [e for e in step.force_errors() if e.side != "both"]
    shares = [
        " / ".join(f"{100 * e.rms[axis] / step.weight:.1f}" for e in errors) or "–"
        for axis in (2, 0, 1)
    ]
    return [f"{begin:.3f} to {end:.3f}", tracking, *shares]
