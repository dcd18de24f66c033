"""The page of one analysis: one self-contained HTML file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from homodyn.analysis.load_validity import all_loads_valid
from homodyn.analysis.pipeline import Analysis
from homodyn.analysis.quality import quality_verdicts
from homodyn.capture.kinematics.segment_observability import (
    MAX_UNSEEN_MASS_SHARE,
    seen_segments,
)
from homodyn.foundation import count_of
from homodyn.report import page_text
from homodyn.report.fit_figures import marker_errors, root_residuals, visibility
from homodyn.report.gait_figures import (
    elevation,
    emg,
    energy,
    ground_forces,
    joint_angles,
    joint_powers,
    joint_torques,
    pressure_paths,
)
from homodyn.report.html import (
    bullet_list,
    details,
    figures_html,
    page_html,
    paragraph,
    sections_html,
    tile,
)
from homodyn.report.method_section import method_section
from homodyn.report.muscle_section import muscle_section
from homodyn.report.provenance_section import provenance_html
from homodyn.report.replay import pose_strip, replay_data, replay_html
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
from homodyn.report.verdict_list import verdicts_html


def analysis_page(analysis: Analysis) -> str:
    """The HTML report of an analysis: one page without external files.

    Args:
        analysis: The result of `homodyn.analysis.analyze`.

    Returns:
        The HTML text, with embedded styles, scripts, figures and replay. A section without data
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
        "methods": method_section(analysis.comparison),
        "elevation": _elevation(analysis),
        "emg": _emg(analysis),
        "muscles": muscle_section(analysis),
        "quality": _quality(analysis),
        "subject": _subject(analysis),
        "reproduce": provenance_html(analysis),
    }
    if analysis.comparison is None:
        del sections["methods"]
    links, body = sections_html(
        {name: (page_text.SECTIONS[name], content) for name, content in sections.items()}
    )
    return page_html(
        f"{analysis.name}: movement report",
        analysis.name,
        _subtitle(analysis),
        body,
        navigation=links,
        footer=f"Written by Homodyn {analysis.version} from {Path(analysis.source).name}. "
        "This page is one self-contained file.",
    )


def _subtitle(analysis: Analysis) -> str:
    trial, model = analysis.trial, analysis.model
    subject = analysis.settings.subject or trial.properties.get("subject", "")
    parts = [
        f"subject {subject}" if subject else "",
        f"{model.mass:.1f} kg",
        f"{analysis.settings.height:.2f} m" if analysis.settings.height else "",
        f"model {model.name}: {model.nv} degrees of freedom",
        f"{trial.duration:.2f} s, {count_of(trial.frames, 'frame')} at {trial.rate:g} Hz",
        count_of(len(trial.plates), "force plate") if trial.plates else "no force plates",
    ]
    return " · ".join(part for part in parts if part)


def _glance(analysis: Analysis) -> str:
    tiles = "".join(tile(*highlight) for highlight in highlights(analysis))
    return verdicts_html(quality_verdicts(analysis), tiles)


def _replay(analysis: Analysis) -> str:
    motion = analysis.motion
    if analysis.muscles is not None:
        motion = analysis.muscles.with_activations(motion)
    data = replay_data(motion, analysis.loads, analysis.events, analysis.trial.plates)
    return replay_html(data, pose_strip(motion))


def _gait(analysis: Analysis) -> str:
    parts = [gait_table(analysis) or _empty(analysis, "gait")]
    if analysis.events:
        parts.append(details(count_of(len(analysis.events), "event"), events_table(analysis)))
    return "".join(parts)


def _kinematics(analysis: Analysis) -> str:
    return paragraph(page_text.SIGNS) + figures_html(joint_angles(analysis.motion, analysis.cycles))


def _forces(analysis: Analysis) -> str:
    if analysis.loads is None:
        return _empty(analysis, "forces")
    forces = ground_forces(analysis.loads, analysis.cycles)
    if not forces:
        return _empty(analysis, "forces unknown" if analysis.trial.plates else "forces")
    paths = pressure_paths(analysis.loads, analysis.trial.plates)
    return figures_html(forces) + (figures_html(paths) if paths else _empty(analysis, "pressure"))


def _kinetics(analysis: Analysis) -> str:
    if analysis.loads is None:
        return _empty(analysis, "kinetics")
    segmentation = analysis.cycles
    partial = "" if all_loads_valid(analysis.loads, segmentation) else paragraph(page_text.PARTIAL)
    return (
        paragraph(_sentence(analysis.loads.method))
        + partial
        + figures_html(joint_torques(analysis.loads, segmentation))
        + figures_html(joint_powers(analysis.loads, segmentation))
    )


def _energy(analysis: Analysis) -> str:
    table = work_table(analysis) or _empty(analysis, "energy")
    if seen_segments(analysis.motion).unseen_mass_share > MAX_UNSEEN_MASS_SHARE:
        return paragraph(page_text.UNSEEN_ENERGY, "empty") + table
    return figures_html(energy(analysis.motion, analysis.loads, analysis.cycles)) + table


def _elevation(analysis: Analysis) -> str:
    if analysis.elevation is None:
        return _empty(analysis, "elevation")
    return figures_html(elevation(analysis.elevation, analysis.cycles))


def _emg(analysis: Analysis) -> str:
    if analysis.emg is None:
        return _empty(analysis, "emg")
    figures = emg(analysis.emg, analysis.cycles, analysis.emg_sides)
    return figures_html(figures) or _empty(analysis, "emg")


def _quality(analysis: Analysis) -> str:
    found = findings_table(analysis)
    parts = [
        "<h3>Health check</h3>",
        found or _empty(analysis, "findings"),
        "<h3>Markers over time</h3>",
        figures_html(visibility(analysis.trial)) or _empty(analysis, "visibility"),
        "<h3>Fit of the model to the markers</h3>",
        paragraph(_sentence(analysis.motion.method)) if analysis.motion.method else "",
        figures_html(marker_errors(analysis.motion)),
        "<h3>Root residuals</h3>",
        figures_html(root_residuals(analysis.loads))
        if analysis.loads is not None and np.isfinite(analysis.loads.residual_force).all()
        else _empty(analysis, "residuals"),
    ]
    if analysis.notes:
        notes = bullet_list(map(_sentence, analysis.notes))
        parts.append(details(count_of(len(analysis.notes), "note"), notes))
    return "".join(parts)


def _subject(analysis: Analysis) -> str:
    if analysis.scaling is None:
        return _empty(analysis, "scaled")
    errors = [f"{kind} {1000 * rms:.1f} mm" for kind, rms in analysis.scaling.rms_by_kind.items()]
    return "".join(
        [
            paragraph(_sentence(analysis.scaling.method)),
            paragraph(f"Marker error by kind: {', '.join(errors)} (root mean square)."),
            scales_table(analysis),
            details("Shifts of joint centers", joints_table(analysis)),
            details("Shifts of markers on their segments", markers_table(analysis)),
        ]
    )


def _sentence(text: str) -> str:
    """Text as a sentence: with a capital at the start and a full stop."""
    plain = text.strip().rstrip(".")
    return f"{plain[:1].upper()}{plain[1:]}." if plain else ""


def _empty(analysis: Analysis, section: str) -> str:
    reason = analysis.missing.get(section)
    return paragraph(_sentence(reason) if reason else page_text.MISSING[section], "empty")
