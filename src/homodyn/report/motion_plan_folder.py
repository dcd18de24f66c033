"""The folder of a planned motion: coordinates, summary and report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from homodyn import __version__
from homodyn.analysis.opensim_files import write_opensim_motion
from homodyn.analysis.plan_comparison import PlanComparison
from homodyn.errors import ModelError
from homodyn.foundation import atomic_folder, write_text
from homodyn.model import save
from homodyn.motion import save_scene
from homodyn.plan import MotionPlan, PlanExecution
from homodyn.plan.ergonomics import ErgonomicAssessment, assess
from homodyn.report.ergonomics_section import ergonomics_section
from homodyn.report.html import (
    bullet_list,
    figures_html,
    page_html,
    paragraph,
    sections_html,
    table,
    tile,
)
from homodyn.report.motion_plan_figures import (
    curves_figure,
    image_html,
    postures_figure,
    timing_figure,
)
from homodyn.report.plan_comparison_section import comparison_html, comparison_summary
from homodyn.report.plan_execution_section import execution_html, execution_summary
from homodyn.report.replay import pose_strip, replay_data, replay_html

EXECUTION_FILE = "executed.mot"
FILES = ("motion.mot", "model.toml", "scene.toml", "summary.json", "report.html")
MAX_POSES = 10
"""Key postures in one figure."""


def is_result(folder: Path) -> bool:
    """Whether a folder has the files of an earlier plan.

    Args:
        folder: An existing folder.

    Returns:
        True if it may be replaced by another plan.
    """
    return all((folder / name).is_file() for name in ("motion.mot", "summary.json", "report.html"))


def write_motion_plan(
    plan: MotionPlan,
    folder: str | Path,
    *,
    recorded: Sequence[float] = (),
    execution: PlanExecution | None = None,
    comparison: PlanComparison | None = None,
    overwrite: bool = False,
) -> list[Path]:
    """Write a planned motion into a folder.

    Args:
        plan: The plan.
        folder: The folder.
        recorded: Instants of the same changes of support in a recording, s, to compare with.
        execution: The plan tracked in simulation; its motion is written as ``executed.mot``.
        comparison: The plan beside a recorded motion.
        overwrite: Whether an earlier result is replaced.

    Returns:
        The files that were written.

    Raises:
        FormatError: The folder exists and may not be replaced, or cannot be written.
    """
    folder = Path(folder)
    with atomic_folder(folder, overwrite=overwrite, is_replaceable=is_result) as temporary:
        write_opensim_motion(plan.motion, temporary)
        save(plan.model, temporary / "model.toml")
        save_scene(plan.scene, temporary / "scene.toml")
        if execution is not None:
            write_opensim_motion(execution.motion, temporary, EXECUTION_FILE)
        text = json.dumps(plan_summary(plan, execution, comparison), indent=2, allow_nan=False)
        (temporary / "summary.json").write_text(text + "\n", encoding="utf-8")
        write_text(temporary / "report.html", plan_page(plan, recorded, execution, comparison))
    names = FILES if execution is None else (*FILES, EXECUTION_FILE)
    return [folder / name for name in names]


def plan_summary(
    plan: MotionPlan,
    execution: PlanExecution | None = None,
    comparison: PlanComparison | None = None,
) -> dict[str, Any]:
    """A plan, its execution and its comparison with a recording as plain numbers (SI units)."""
    assessment = plan_ergonomics(plan)
    margin = plan.balance.wrench
    com = plan.tracking[:, 0]
    return {
        "scene": plan.scene.name,
        "model": plan.model.name,
        "sentence": plan.sentence,
        "duration_s": plan.duration,
        "instants_s": plan.instants.tolist(),
        "least_clearance_m": _finite(plan.clearance.min()),
        "least_margin_Nm": _finite(np.nanmin(margin)),
        "planned_com_margin_Nm": None if plan.com is None else _finite(plan.com.margin),
        "largest_com_deviation_m": _finite(np.nanmax(com)) if np.isfinite(com).any() else None,
        "largest_support_deviation_m": _finite(np.nanmax(plan.tracking[:, 1])),
        "computing_s": plan.seconds,
        "phases": plan.rows(),
        "flights": [
            {
                "body": path.body,
                "start_s": path.start,
                "end_s": path.end,
                "method": path.method,
                "iterations": path.iterations,
                "lift_m": path.lift,
            }
            for path in plan.flights
        ],
        "key_postures": [
            {"time_s": float(time), "solved": key.solved, "sentence": key.sentence}
            for time, key in zip(plan.instants, plan.keys, strict=True)
        ],
        "ergonomics": None if assessment is None else assessment.to_summary(),
        "notes": list(plan.notes),
        **({} if execution is None else {"execution": execution_summary(execution)}),
        **({} if comparison is None else {"comparison": comparison_summary(comparison)}),
    }


def plan_page(
    plan: MotionPlan,
    recorded: Sequence[float] = (),
    execution: PlanExecution | None = None,
    comparison: PlanComparison | None = None,
) -> str:
    """The report of a plan as a page without external files.

    Args:
        plan: The plan.
        recorded: Instants of the same changes of support in a recording, s.
        execution: The plan tracked in simulation.
        comparison: The plan beside a recorded motion.
    """
    worst = int(np.argmin(plan.clearance))
    pair = plan.closest[worst]
    tiles = [
        tile(f"{plan.duration:.2f}", "s", f"{len(plan.scene.steps)} phases"),
        tile(f"{1000 * plan.clearance[worst]:.0f}", "mm", "least clearance"),
        tile(f"{np.nanmin(plan.balance.wrench):.1f}", "N m", "least balance margin"),
        tile(f"{plan.seconds:.0f}", "s", "computing time"),
    ]
    columns = [
        ("phase", ""),
        ("supports", ""),
        ("start (s)", "n"),
        ("end (s)", "n"),
        ("flights", ""),
        ("clearance (mm)", "n"),
        ("margin (N m)", "n"),
    ]
    rows = [
        [
            str(row["phase"]),
            str(row["supports"]),
            f"{row['start_s']:.2f}",
            f"{row['end_s']:.2f}",
            str(row["flights"]),
            f"{row['clearance_mm']:.0f}",
            "–" if row["margin_Nm"] is None else f"{row['margin_Nm']:.1f}",
        ]
        for row in plan.rows()
    ]
    keys = [
        [f"{time:.2f}", key.sentence] for time, key in zip(plan.instants, plan.keys, strict=True)
    ]
    poses = [key.q for key in plan.keys]
    strips = "".join(
        image_html(
            postures_figure(plan, poses[k : k + MAX_POSES]),
            f"Key postures {k + 1} to {min(k + MAX_POSES, len(poses))} in three views",
        )
        for k in range(0, len(poses), MAX_POSES)
    )
    sections = {
        "At a glance": f'<div class="glance"><div class="tiles">{"".join(tiles)}</div></div>'
        + paragraph(plan.sentence)
        + paragraph(f"Closest at {plan.motion.time[worst]:.2f} s: {pair.headline()}."),
        "Replay": replay_html(replay_data(plan.motion), pose_strip(plan.motion)),
        "Phases": table(columns, rows),
        "Timing": image_html(timing_figure(plan, recorded), "Bars of the supports over time"),
        "Key postures": strips + table([("time (s)", "n"), ("result", "")], keys),
        "Clearance and balance": figures_html([curves_figure(plan)]),
    }
    if execution is not None:
        sections["Execution"] = execution_html(execution)
    if comparison is not None:
        sections["Beside the recording"] = comparison_html(comparison)
    assessment = plan_ergonomics(plan)
    if assessment is not None:
        sections["Ergonomics"] = ergonomics_section(assessment)
    notes = (*plan.notes, *plan.scene.notes)
    if notes:
        sections["Notes"] = bullet_list(notes)
    links, body = sections_html({f"s{k}": item for k, item in enumerate(sections.items())})
    return page_html(
        f"{plan.scene.name}: planned motion",
        plan.scene.name,
        escape(f"planned motion · model {plan.model.name} · {plan.duration:.2f} s"),
        body,
        navigation=links,
        footer=f"Written by Homodyn {__version__}. This page is one self-contained file.",
    )


def plan_ergonomics(plan: MotionPlan) -> ErgonomicAssessment | None:
    """Scores, reach and use of limits of a plan; None for models without trunk or arms.

    Args:
        plan: The plan.
    """
    try:
        return assess(plan.motion)
    except ModelError:
        return None


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
