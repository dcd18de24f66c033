"""The report of any motion: recorded, simulated, optimized or synthetic, with or without loads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from pathlib import Path

import numpy as np

from homodyn import __version__, dynamics
from homodyn.analysis.curves import CycleSegmentation
from homodyn.errors import HomodynError
from homodyn.foundation import count_of, write_text
from homodyn.motion import Event, Loads, Motion
from homodyn.report import page_text
from homodyn.report.fit_figures import marker_errors, root_residuals
from homodyn.report.gait_figures import (
    PageFigure,
    energy,
    ground_forces,
    joint_angles,
    joint_powers,
    joint_torques,
    pressure_paths,
)
from homodyn.report.html import bullet_list, figure, paragraph, tile
from homodyn.report.replay import asset, pose_strip, replay_data, replay_html

MAX_PAGE_RATE_HZ = 200.0
"""Frames per second of an unevenly sampled motion on a page."""


def write(
    path: str | Path,
    motion: Motion,
    loads: Loads | None = None,
    *,
    title: str = "",
    events: Sequence[Event] | None = None,
) -> Path:
    """Write a self-contained HTML report of a motion.

    The page has a replay, joint angles, energy and, where loads are known, ground forces, torques
    and powers. Curves are averaged over gait cycles when the events have complete cycles.

    Args:
        path: The .html file to write.
        motion: Any motion, whatever produced it.
        loads: Its loads; torques and contact forces of the motion itself when omitted.
        title: Heading of the page; the name of the model by default.
        events: Gait events; those of the motion when omitted.

    Returns:
        The path of the page.

    Raises:
        HomodynError: The motion has fewer than two frames.
        FormatError: The file cannot be written.
    """
    path = Path(path)
    write_text(path, motion_page(motion, loads, title=title, events=events))
    return path


def motion_page(
    motion: Motion,
    loads: Loads | None = None,
    *,
    title: str = "",
    events: Sequence[Event] | None = None,
) -> str:
    """Return the page of `write` as text.

    Args:
        motion: Any motion, whatever produced it.
        loads: Its loads; torques and contact forces of the motion itself when omitted.
        title: Heading of the page; the name of the model by default.
        events: Gait events; those of the motion when omitted.

    Returns:
        HTML that loads nothing from elsewhere.

    Raises:
        HomodynError: The motion has fewer than two frames.
    """
    if len(motion.time) < 2:
        raise HomodynError("a report needs a motion of two frames or more")
    if loads is None:
        motion = _evenly_sampled(motion)
        loads = _own_loads(motion)
    known = motion.events if events is None else tuple(events)
    segmentation = CycleSegmentation(motion.time, tuple(known))
    sections = {
        "At a glance": _glance(motion, loads),
        "Replay": replay_html(replay_data(motion, loads, known), pose_strip(motion)),
        "Angles": paragraph(page_text.SIGNS) + _figures(joint_angles(motion, segmentation)),
        **_load_sections(motion, loads, segmentation),
        "Energy": _figures(energy(motion, loads, segmentation)),
    }
    if motion.residual.size:
        sections["Fit of the model to the markers"] = _figures(marker_errors(motion))
    if motion.notes:
        sections["Notes"] = bullet_list(motion.notes)
    links = "".join(f'<a href="#s{k}">{name}</a>' for k, name in enumerate(sections))
    body = "".join(
        f'<section id="s{k}"><h2>{name}</h2>{content}</section>'
        for k, (name, content) in enumerate(sections.items())
    )
    heading = escape(title or motion.model.name)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">"
        f"<title>{heading}: movement report</title><style>{asset('page.css')}</style></head><body>"
        f'<header><h1>{heading}</h1><p class="sub">{escape(_subtitle(motion))}</p></header>'
        f'<nav aria-label="Sections"><div>{links}</div></nav><main>{body}</main>'
        f"<footer>Written by Homodyn {__version__}. This page is one self-contained file."
        "</footer></body></html>\n"
    )


def _evenly_sampled(motion: Motion) -> Motion:
    """The motion itself, or at even times where its steps differ."""
    steps = np.diff(motion.time)
    if np.ptp(steps) <= 1e-6 * steps.mean():
        return motion
    rate = min(MAX_PAGE_RATE_HZ, 1.0 / float(np.median(steps[steps > 0])))
    unique = np.concatenate([[True], steps > 1e-12])
    events = motion.events
    kept = motion if unique.all() else motion.take(np.flatnonzero(unique))
    count = max(int(np.floor(kept.duration * rate)) + 1, 2)
    return replace(kept.resample(np.linspace(kept.time[0], kept.time[-1], count)), events=events)


def _own_loads(motion: Motion) -> Loads | None:
    """Loads from the torques and contact forces that a motion carries; None without torques."""
    model = motion.model
    if motion.tau.shape != (len(motion.time), model.nv):
        return None
    root = tuple(int(k) for k in range(model.nv) if k not in model.actuated)
    power = motion.tau * motion.v
    power[:, list(root)] = 0.0
    none = np.zeros((len(motion.time), 3))
    return Loads(
        motion, motion.tau, root, none, none, tuple(motion.contact_forces), power, motion.method
    )


def _glance(motion: Motion, loads: Loads | None) -> str:
    model = motion.model
    com = dynamics.center_of_mass(model, motion.q)
    speed = np.linalg.norm(com[-1] - com[0]) / motion.duration
    tiles = [
        tile(f"{motion.duration:.2f}", "s", count_of(len(motion.time), "frame")),
        tile(f"{model.mass:.1f}", "kg", f"{model.nv} degrees of freedom"),
        tile(f"{speed:.2f}", "m/s", "mean speed of the center of mass"),
    ]
    if motion.residual.size:
        tiles.append(tile(f"{1000 * motion.rms:.1f}", "mm", "marker error (rms)"))
    if loads is not None and loads.joints:
        peak = np.abs(loads.per_kg[:, loads.joints])
        peak = peak[np.isfinite(peak)]
        if peak.size:
            tiles.append(tile(f"{peak.max():.2f}", "N m/kg", "largest joint torque"))
    return f'<div class="glance"><div class="tiles">{"".join(tiles)}</div></div>'


def _load_sections(
    motion: Motion, loads: Loads | None, segmentation: CycleSegmentation
) -> dict[str, str]:
    if loads is None:
        missing = paragraph("This motion has no torques and ground forces.", "empty")
        return {"Torques and powers": missing}
    forces = _figures(ground_forces(loads, segmentation)) + _figures(pressure_paths(loads, ()))
    torques = paragraph(loads.method) if loads.method else ""
    torques += _figures(joint_torques(loads, segmentation))
    torques += _figures(joint_powers(loads, segmentation))
    if loads.root and np.any(loads.residual_force) and np.isfinite(loads.residual_force).all():
        torques += _figures(root_residuals(loads))
    return {
        "Ground forces": forces or paragraph("There are no ground forces.", "empty"),
        "Torques and powers": torques or paragraph("There are no joint torques.", "empty"),
    }


def _subtitle(motion: Motion) -> str:
    model = motion.model
    source = "" if str(motion.source) == "unknown" else f"{motion.source} motion"
    parts = [source, f"model {model.name}", f"{motion.duration:.2f} s", motion.method]
    return " · ".join(part for part in parts if part)


def _figures(drawn: Sequence[PageFigure]) -> str:
    return "".join(figure(one) for one in drawn)
