"""The folder of a tracked trial: tables, files for OpenSim, a summary and a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.analysis.result_files import PAGE, SUMMARY, is_result
from homodyn.analysis.result_tables import write_loads, write_motion
from homodyn.capture.kinetics.work import joint_work
from homodyn.foundation import atomic_folder
from homodyn.model import save
from homodyn.report.motion_report import motion_page
from homodyn.track import TrackingResult


def write_tracking(
    result: TrackingResult, folder: str | Path, *, overwrite: bool = False
) -> list[Path]:
    """Write the tables, the summary and the page of a tracked trial, completely or not at all.

    Args:
        result: What `homodyn.track.track` returned.
        folder: The folder to write; its parents are created.
        overwrite: Replace a folder that already contains a result.

    Returns:
        The files that were written.

    Raises:
        FormatError: The folder exists and may not be replaced, or cannot be written.
    """
    folder = Path(folder)
    with atomic_folder(folder, overwrite=overwrite, is_replaceable=is_result) as temporary:
        save(result.motion.model, temporary / "model.toml")
        write_motion(result.motion, (), temporary)
        write_loads(result.loads, temporary)
        page = motion_page(
            result.motion, result.loads, title=f"{result.motion.model.name}: {result.message}"
        )
        (temporary / PAGE).write_text(page, encoding="utf-8")
        text = json.dumps(tracking_summary(result), indent=2, allow_nan=False)
        (temporary / SUMMARY).write_text(text + "\n", encoding="utf-8")
        names = sorted(path.name for path in temporary.iterdir())
    return [folder / name for name in names]


def tracking_summary(result: TrackingResult) -> dict[str, Any]:
    """The results of tracking as plain numbers (SI units).

    Args:
        result: The result.

    Returns:
        Status, marker error, residuals, mean ground force and work.
    """
    loads, work = result.loads, joint_work(result.loads)
    angles = result.angle_error
    return {
        "model": result.motion.model.name,
        "status": str(result.status),
        "message": result.message,
        "frames": result.motion.frames,
        "marker_rms": result.motion.rms,
        "angle_error_rms": float(np.sqrt(np.mean(angles**2))),
        "residuals": {
            name: {"limit": result.residual_limits[name], "largest": float(np.abs(values).max())}
            for name, values in result.residual.items()
        },
        "mean_ground_force": loads.ground_force.mean(axis=0).tolist(),
        "weight": result.motion.model.mass
        * float(np.linalg.norm(np.asarray(result.motion.model.gravity, dtype=float))),
        "work": {
            "net": work.total_net,
            "positive": work.total_positive,
            "negative": work.total_negative,
            "absolute": work.total_absolute,
        },
        "notes": list(result.notes),
    }
