"""The report of any motion: recorded, simulated, optimized or synthetic, with or without loads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from homodyn import __version__, dynamics
from homodyn.analysis.curves import CycleSegmentation
from homodyn.errors import HomodynError
from homodyn.foundation import count_of, write_text
from homodyn.foundation.arguments import require_type
from homodyn.motion import Event, Loads, Motion
from homodyn.report import page_text
from homodyn.report.fit_figures import marker_errors, root_residuals
from homodyn.report.gait_figures import (
    energy,
    ground_forces,
    joint_angles,
    joint_powers,
    joint_torques,
    pressure_paths,
)
from homodyn.report.html import (
    bullet_list,
    figures_html,
    page_html,
    paragraph,
    sections_html,
    tile,
)
from homodyn.report.replay import pose_strip, replay_data, replay_html

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
        HomodynError: The motion has fewer than two frames, or is no motion.
        FormatError: The file cannot be written.
    """
    require_type("motion", motion, Motion)
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
        loads = Loads.from_motion(motion) if motion.tau.size else None
    known = motion.events if events is None else tuple(events)
    segmentation = CycleSegmentation(motion.time, tuple(known))
    sections = {
        "At a glance": _glance(motion, loads),
        "Replay": replay_html(replay_data(motion, loads, known), pose_strip(motion)),
        "Angles": paragraph(page_text.SIGNS) + figures_html(joint_angles(motion, segmentation)),
        **_load_sections(motion, loads, segmentation),
        "Energy": figures_html(energy(motion, loads, segmentation)),
    }
    if motion.residual.size:
        sections["Fit of the model to the markers"] = figures_html(marker_errors(motion))
    if motion.notes:
        sections["Notes"] = bullet_list(motion.notes)
    links, body = sections_html({f"s{k}": item for k, item in enumerate(sections.items())})
    heading = title or motion.model.name
    return page_html(
        f"{heading}: movement report",
        heading,
        _subtitle(motion),
        body,
        navigation=links,
        footer=f"Written by Homodyn {__version__}. This page is one self-contained file.",
    )


def _evenly_sampled(motion: Motion) -> Motion:
    """The motion itself, or resampled to a constant rate where its time steps differ."""
    steps = np.diff(motion.time)
    if np.ptp(steps) <= 1e-6 * steps.mean():
        return motion
    rate = min(MAX_PAGE_RATE_HZ, 1.0 / float(np.median(np.diff(motion.time))))
    count = max(int(np.floor(motion.duration * rate)) + 1, 2)
    return motion.resample(np.linspace(motion.time[0], motion.time[-1], count))


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
        peak = np.abs(loads.per_kg[loads.valid][:, loads.joints])
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
    forces = figures_html(ground_forces(loads, segmentation)) + figures_html(
        pressure_paths(loads, ())
    )
    torques = paragraph(loads.method) if loads.method else ""
    torques += figures_html(joint_torques(loads, segmentation))
    torques += figures_html(joint_powers(loads, segmentation))
    if loads.root and np.any(loads.residual_force) and np.isfinite(loads.residual_force).all():
        torques += figures_html(root_residuals(loads))
    return {
        "Ground forces": forces or paragraph("There are no ground forces.", "empty"),
        "Torques and powers": torques or paragraph("There are no joint torques.", "empty"),
    }


def _subtitle(motion: Motion) -> str:
    model = motion.model
    source = "" if str(motion.source) == "unknown" else f"{motion.source} motion"
    parts = [source, f"model {model.name}", f"{motion.duration:.2f} s", motion.method]
    return " · ".join(part for part in parts if part)
