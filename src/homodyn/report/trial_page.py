"""The page of one analysis: one HTML file that needs nothing but itself."""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np

from homodyn.analysis.load_validity import all_loads_valid
from homodyn.analysis.pipeline import Analysis
from homodyn.analysis.quality import overall_light, quality_verdicts
from homodyn.report import page_text
from homodyn.report.fit_figures import marker_errors, root_residuals, visibility
from homodyn.report.gait_figures import (
    PageFigure,
    elevation,
    emg,
    energy,
    ground_forces,
    joint_angles,
    joint_powers,
    joint_torques,
    pressure_paths,
)
from homodyn.report.html import bullet_list, figure, paragraph, tile
from homodyn.report.provenance_section import provenance_html
from homodyn.report.replay import asset, pose_strip, replay_data, replay_html
from homodyn.report.tables import (
    events_table,
    findings_table,
    gait_table,
    highlights,
    joints_table,
    markers_table,
    scales_table,
    work_table,
)


def analysis_page(analysis: Analysis) -> str:
    """The HTML report of an analysis: one page without external files.

    Args:
        analysis: The result of `homodyn.analysis.analyze`.

    Returns:
        The HTML text, with styles, scripts, figures and the replay embedded. A section without data
        states the reason.
    """
    sections = {
        "glance": _glance(analysis),
        "replay": _replay(analysis),
        "gait": _gait(analysis),
        "kinematics": _kinematics(analysis),
        "forces": _forces(analysis),
        "kinetics": _kinetics(analysis),
        "energy": _energy(analysis),
        "elevation": _elevation(analysis),
        "emg": _emg(analysis),
        "quality": _quality(analysis),
        "subject": _subject(analysis),
        "reproduce": provenance_html(analysis),
    }
    links = "".join(f'<a href="#{name}">{page_text.SECTIONS[name]}</a>' for name in sections)
    body = "".join(
        f'<section id="{name}"><h2>{page_text.SECTIONS[name]}</h2>{content}</section>'
        for name, content in sections.items()
    )
    title = escape(analysis.name)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">"
        f"<title>{title}: movement report</title><style>{asset('page.css')}</style></head><body>"
        f'<header><h1>{title}</h1><p class="sub">{escape(_subtitle(analysis))}</p></header>'
        f'<nav aria-label="Sections"><div>{links}</div></nav><main>{body}</main>'
        f"<footer>{escape(_footer(analysis))}</footer></body></html>\n"
    )


def _subtitle(analysis: Analysis) -> str:
    trial, model = analysis.trial, analysis.model
    subject = analysis.settings.subject or trial.properties.get("subject", "")
    parts = [
        f"subject {subject}" if subject else "",
        f"{model.mass:.1f} kg",
        f"{analysis.settings.height:.2f} m" if analysis.settings.height else "",
        f"model {model.name}: {model.nv} degrees of freedom",
        f"{trial.duration:.2f} s, {trial.frames} frames at {trial.rate:g} Hz",
        f"{len(trial.plates)} force plates" if trial.plates else "no force plates",
    ]
    return " · ".join(part for part in parts if part)


def _footer(analysis: Analysis) -> str:
    return (
        f"Written by Homodyn {analysis.version} from {Path(analysis.source).name}. This page is "
        "one file: it loads nothing from elsewhere."
    )


def _glance(analysis: Analysis) -> str:
    found = quality_verdicts(analysis)
    light = overall_light(found)
    tiles = "".join(tile(*highlight) for highlight in highlights(analysis))
    items = "".join(
        f'<li><span class="light {v.light}">{page_text.LIGHTS[v.light]}</span>'
        f"<span>{escape(v.sentence)}</span></li>"
        for v in found
    )
    return (
        f'<div class="glance"><div class="overall {light}"><p><strong class="light {light}">'
        f"{escape(page_text.OVERALL[light])}</strong></p></div>"
        f'<div class="tiles">{tiles}</div><ul class="verdicts">{items}</ul></div>'
    )


def _replay(analysis: Analysis) -> str:
    data = replay_data(analysis.motion, analysis.loads, analysis.events, analysis.trial.plates)
    return replay_html(data, pose_strip(analysis.motion))


def _gait(analysis: Analysis) -> str:
    parts = [gait_table(analysis) or _empty(analysis, "gait")]
    if analysis.events:
        parts.append(
            f"<details><summary>{len(analysis.events)} events</summary>"
            f"{events_table(analysis)}</details>"
        )
    return "".join(parts)


def _kinematics(analysis: Analysis) -> str:
    return paragraph(page_text.SIGNS) + _figures(joint_angles(analysis.motion, analysis.cycles))


def _forces(analysis: Analysis) -> str:
    if analysis.loads is None:
        return _empty(analysis, "forces")
    drawn = ground_forces(analysis.loads, analysis.cycles)
    if not drawn:
        return _empty(analysis, "forces unknown" if analysis.trial.plates else "forces")
    paths = pressure_paths(analysis.loads, analysis.trial.plates)
    return _figures(drawn) + (_figures(paths) if paths else _empty(analysis, "pressure"))


def _kinetics(analysis: Analysis) -> str:
    if analysis.loads is None:
        return _empty(analysis, "kinetics")
    segmentation = analysis.cycles
    partial = "" if all_loads_valid(analysis.loads, segmentation) else paragraph(page_text.PARTIAL)
    return (
        paragraph(_sentence(analysis.loads.method))
        + partial
        + _figures(joint_torques(analysis.loads, segmentation))
        + _figures(joint_powers(analysis.loads, segmentation))
    )


def _energy(analysis: Analysis) -> str:
    table = work_table(analysis) or _empty(analysis, "energy")
    return _figures(energy(analysis.motion, analysis.loads, analysis.cycles)) + table


def _elevation(analysis: Analysis) -> str:
    if analysis.elevation is None:
        return _empty(analysis, "elevation")
    return _figures(elevation(analysis.elevation, analysis.cycles))


def _emg(analysis: Analysis) -> str:
    if analysis.emg is None:
        return _empty(analysis, "emg")
    drawn = emg(analysis.emg, analysis.cycles, analysis.emg_sides)
    return _figures(drawn) or _empty(analysis, "emg")


def _quality(analysis: Analysis) -> str:
    found = findings_table(analysis)
    parts = [
        "<h3>Health check</h3>",
        found or _empty(analysis, "findings"),
        "<h3>Markers over time</h3>",
        _figures(visibility(analysis.trial)) or _empty(analysis, "visibility"),
        "<h3>Fit of the model to the markers</h3>",
        paragraph(_sentence(analysis.motion.method)) if analysis.motion.method else "",
        _figures(marker_errors(analysis.motion)),
        "<h3>Root residuals</h3>",
        _figures(root_residuals(analysis.loads))
        if analysis.loads is not None and np.isfinite(analysis.loads.residual_force).all()
        else _empty(analysis, "residuals"),
    ]
    if analysis.notes:
        parts.append(
            f"<details><summary>{len(analysis.notes)} remarks made on the way</summary>"
            f"{bullet_list(map(_sentence, analysis.notes))}</details>"
        )
    return "".join(parts)


def _subject(analysis: Analysis) -> str:
    if analysis.scaling is None:
        return _empty(analysis, "scaled")
    return "".join(
        [
            paragraph(_sentence(analysis.scaling.method)),
            scales_table(analysis),
            f"<details><summary>Joint centres that moved</summary>{joints_table(analysis)}"
            "</details>",
            f"<details><summary>Markers that were moved</summary>{markers_table(analysis)}"
            "</details>",
        ]
    )


def _sentence(words: str) -> str:
    """Words as a sentence: a capital at the start and a full stop."""
    plain = words.strip().rstrip(".")
    return f"{plain[:1].upper()}{plain[1:]}." if plain else ""


def _figures(drawn: list[PageFigure]) -> str:
    return "".join(figure(one) for one in drawn)


def _empty(analysis: Analysis, section: str) -> str:
    return paragraph(analysis.missing.get(section) or page_text.MISSING[section], "empty")
