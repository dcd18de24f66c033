"""The folder of a design study: a page of the search and its best robot, the motion and numbers."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from homodyn.analysis.result_files import SUMMARY, is_result
from homodyn.analysis.result_tables import write_coordinates
from homodyn.codesign.design_drawing import design_figure, last_cycle
from homodyn.codesign.design_solution import DesignSolution, MotorSeries
from homodyn.codesign.search_outcome import SearchOutcome
from homodyn.errors import HomodynError
from homodyn.foundation import atomic_folder
from homodyn.model import save
from homodyn.model.side import Side
from homodyn.report.html import (
    PageFigure,
    figures_html,
    number,
    page_html,
    paragraph,
    sections_html,
    table,
)
from homodyn.report.replay import pose_strip, replay_data, replay_html
from homodyn.report.search_figures import convergence, visit_map
from homodyn.report.simulation_folder import evenly_sampled
from homodyn.report.svg import Plot, nice_range
from homodyn.search import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE_FILE, PARAMETERS_FILE = "report.html", "parameters.json"
CYCLE_SAMPLES = 101
TABLE_HEADS = (
    ("robot", ""),
    ("topology", ""),
    ("added mass (kg)", "n"),
    ("shift of center, forward / up (m)", "n"),
    ("bars (m)", "n"),
    ("power (W)", "n"),
    ("torque (N m)", "n"),
    ("assistance (share of time)", "n"),
    ("outcome", ""),
)
PUBLISHED_ROWS = (
    ("published 1", "2", "13.3", "0 / −0.03", "0.30 to 0.46", "462", "1141", "0", "walks"),
    ("published 2", "5", "13.9", "0 / −0.08", "0.20 to 0.52", "748", "418", "0.01", "walks"),
    ("published 3", "3", "13.5", "0 / −0.07", "0.10 to 0.64", "1018", "818", "0", "walks"),
)
"""Table 5.4 of van den Kieboom (2014); how power and torque are summed is not stated."""


def write_design_solution(
    solution: DesignSolution,
    folder: str | Path,
    *,
    outcome: SearchOutcome | None = None,
    search: Study | None = None,
    others: Sequence[DesignSolution] = (),
    overwrite: bool = False,
) -> list[Path]:
    """Write page, model, motion, parameters and summary of a robot, completely or not at all.

    Args:
        solution: The robot, which was simulated.
        folder: The folder to write; its parents are created.
        outcome: Outcomes of the search that found it.
        search: The recorded search, for its figures.
        others: Further robots for the table, such as the best of each topology.
        overwrite: Replace a folder that already contains a result.

    Returns:
        The files that were written.

    Raises:
        HomodynError: The design was rejected before its simulation, or the folder exists.
    """
    if solution.result is None:
        raise HomodynError(f"there is no simulation to report: {solution.sentence}")
    folder = Path(folder)
    with atomic_folder(folder, overwrite=overwrite, is_replaceable=is_result) as temporary:
        save(solution.model, temporary / "model.toml")
        write_coordinates(solution.result.motion, temporary)
        page = design_study_page(solution, outcome=outcome, search=search, others=others)
        (temporary / PAGE_FILE).write_text(page, encoding="utf-8")
        for name, content in (
            (PARAMETERS_FILE, {"group": solution.group, "parameters": solution.parameters}),
            (SUMMARY, design_summary(solution, outcome)),
        ):
            text = json.dumps(content, indent=2, allow_nan=False)
            (temporary / name).write_text(text + "\n", encoding="utf-8")
    names = ("model.toml", "motion.csv", "motion.mot", PARAMETERS_FILE, PAGE_FILE, SUMMARY)
    return [folder / name for name in names]


def design_summary(
    solution: DesignSolution, outcome: SearchOutcome | None = None
) -> dict[str, Any]:
    """A robot and its walk as plain numbers (SI units); None for what is not known.

    Args:
        solution: The robot.
        outcome: Outcomes of the search that found it.

    Returns:
        The numbers by name.
    """
    cuffs = solution.cuffs
    forces = None
    if cuffs is not None:
        forces = {f"{side.value} {segment}": _mean(cuffs.size(side, segment))
                  for side, segment in cuffs.force}  # fmt: skip
    searched = None
    if outcome is not None:
        searched = {
            "candidates": outcome.candidates,
            "evaluations": outcome.evaluations,
            "outcomes": outcome.counts,
            "groups_visited": len(outcome.visits),
        }
    return {
        "study": solution.study.name,
        "group": solution.group,
        "sentence": solution.sentence,
        "walks": solution.walks,
        "stage": solution.stage,
        "objectives": {k: v if np.isfinite(v) else None for k, v in solution.objectives.items()},
        "robot_mass_kg": solution.robot_mass,
        "center_shift_m": solution.center_shift,
        "bars_m": solution.bars,
        "power_w": _sum_of_means(solution, lambda one: one.power),
        "torque_n_m": _sum_of_means(solution, lambda one: one.torque),
        "cuff_forces_n": forces,
        "assist_share": assist_share(solution),
        "search": searched,
    }


def assist_share(solution: DesignSolution) -> float | None:
    """Share of the second half of a simulation in which the assistance acts.

    Args:
        solution: The robot.

    Returns:
        0 to 1; None where it was not simulated.
    """
    result = solution.result
    if result is None:
        return None
    assistance = solution.study.task.assistance
    place = solution.model.position_index[assistance.index(solution.model)]
    half = result.q[solution.second_half(result.time), place]
    return float(np.mean(np.abs(half) > assistance.neutral_zone))


def _mean(values: np.ndarray) -> float:
    return float(values[len(values) // 2 :].mean())


def _sum_of_means(
    solution: DesignSolution, of: Callable[[MotorSeries], np.ndarray]
) -> float | None:
    """Mean over the second half of the sum of the sizes of a quantity of all motors."""
    if not solution.motors:
        return None
    return float(sum(_mean(np.abs(of(motor))) for motor in solution.motors))


def design_table_row(name: str, solution: DesignSolution) -> tuple[str, ...]:
    """A row of the table of results.

    Args:
        name: What the robot is called.
        solution: The robot.

    Returns:
        The cells in the order of `TABLE_HEADS`.
    """
    forward, up = solution.center_shift
    share = assist_share(solution)
    pair = "-".join(map(str, solution.design.actuated))
    return (
        name,
        f"{solution.design.topology.number} (actuators {pair})",
        f"{solution.robot_mass:.1f}",
        f"{number(forward, 2)} / {number(up, 2)}",
        f"{solution.bars[0]:.2f} to {solution.bars[1]:.2f}",
        number(_sum_of_means(solution, lambda one: one.power)),
        number(_sum_of_means(solution, lambda one: one.torque)),
        number(share, 2),
        "walks" if solution.walks else solution.sentence,
    )


def design_study_page(
    solution: DesignSolution,
    *,
    outcome: SearchOutcome | None = None,
    search: Study | None = None,
    others: Sequence[DesignSolution] = (),
) -> str:
    """The page of a robot: replay, drawings, search, motors, cuffs and the table of results.

    Args:
        solution: The robot, which was simulated.
        outcome: Outcomes of the search that found it.
        search: The recorded search, for its figures.
        others: Further robots for the table.

    Returns:
        A complete page.
    """
    assert solution.result is not None
    motion = evenly_sampled(solution.result)
    notes = "".join(map(paragraph, solution.study.notes)) or "None."
    sections = {
        "replay": ("Movement", replay_html(replay_data(motion), pose_strip(motion))),
        "robot": ("Robot over the gait cycle", _drawings(solution, others)),
        "table": ("Results", _results_table(solution, others)),
        "objectives": ("Objectives", _objectives(solution)),
        "motors": ("Motors and cuffs", figures_html(_cycle_figures(solution))),
        "search": ("Search", _search_section(outcome, search)),
        "notes": ("Assumptions and notes", notes),
    }
    links, body = sections_html(sections)
    name = solution.study.name
    return page_html(name, name, f"The best robot {solution.sentence}.", body, navigation=links)


def _drawings(solution: DesignSolution, others: Sequence[DesignSolution]) -> str:
    figures = []
    for k, one in enumerate((solution, *others)):
        try:
            image = _image(design_figure(one), f"robot {one.group} over the gait cycle")
        except HomodynError:
            continue  # It fell in the first cycle; the table says so.
        caption = (
            "Right leg with its robot over the last gait cycle of the controller; actuators are "
            f"ringed. Group {one.group}."
        )
        figures.append(PageFigure(f"robot-{k}", (image,), caption, 1, legend=False))
    return figures_html(figures) or paragraph("No robot walked for a whole cycle.")


def _image(figure: Figure, alt: str) -> str:
    """A figure of matplotlib as an image in the page."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130, facecolor="white")
    data = base64.b64encode(buffer.getvalue()).decode()
    style = "width:100%;height:auto;max-width:1100px"
    return f'<img alt="{alt}" style="{style}" src="data:image/png;base64,{data}">'


def _results_table(solution: DesignSolution, others: Sequence[DesignSolution]) -> str:
    rows = [design_table_row("this robot", solution)]
    rows += [design_table_row(f"best of topology {o.design.topology.number}", o) for o in others]
    rows += PUBLISHED_ROWS
    return table(TABLE_HEADS, rows) + paragraph(
        "Published: van den Kieboom (2014), table 5.4. Power and torque here are means over time "
        "of the sum of sizes over all motors; the source does not state how it sums them.",
        "note",
    )


def _objectives(solution: DesignSolution) -> str:
    rows = []
    for k, one in enumerate(solution.study.objectives):
        state = "last objective" if one.until is None else "met" if k < solution.stage else "missed"
        value = number(solution.objectives[one.name], 4)
        rows.append((one.name.replace("_", " "), value, one.unit, one.until or "", state))
    heads = [("objective", ""), ("value", "n"), ("unit", ""), ("condition", ""), ("", "")]
    return table(heads, rows)


def _search_section(outcome: SearchOutcome | None, search: Study | None) -> str:
    if outcome is None:
        return paragraph("The robot is shown without its search.")
    total = max(outcome.candidates, 1)
    rows = [(name, f"{n}", f"{100 * n / total:.1f}") for name, n in outcome.counts.items()]
    text = table([("outcome", ""), ("candidates", "n"), ("%", "n")], rows)
    text += paragraph(
        f"{outcome.evaluations} of {outcome.candidates} candidates were simulated; the others were "
        "rejected before, or their simulation broke and does not count.",
        "note",
    )
    if search is None:
        return text
    figures = [
        PageFigure(name, (_image(figure, name),), caption, 1, legend=False)
        for name, figure, caption in (
            ("convergence", convergence(search), "Best and mean of each generation by stage."),
            ("visits", visit_map(search), "Candidates by topology with actuated joints."),
        )
    ]
    return text + figures_html(figures)


def _cycle_figures(solution: DesignSolution) -> tuple[PageFigure, ...]:
    """Torque and power of the motors, and forces of the cuffs, over the last cycle."""
    try:
        start, end = last_cycle(solution)
    except HomodynError:
        return ()
    share = np.linspace(0.0, 1.0, CYCLE_SAMPLES)
    times = start + share * (end - start)
    motors = solution.motors
    names = sorted({motor.name.split(" ", 1)[1] for motor in motors})
    torque, power = (
        tuple(_motor_plot(what, name, motors, times, share) for name in names)
        for what in ("torque", "power")
    )
    cuffs = solution.cuffs
    assert cuffs is not None
    plots = []
    for segment in solution.design.topology.linkage.segments:
        curves = {
            side: np.interp(times, cuffs.time, cuffs.size(side, segment))
            for side in (Side.RIGHT, Side.LEFT)
        }
        plots.append(_plot(f"force on the {segment}", "N", share, curves))
    return (
        PageFigure("torque", torque, "Torque of the motors over the cycle of the right leg.", 3),
        PageFigure("power", power, "Power of the motors.", 3),
        PageFigure("cuffs", tuple(plots), "Size of the force of the robot on each segment.", 3),
    )  # fmt: skip


def _motor_plot(
    what: str,
    name: str,
    motors: Sequence[MotorSeries],
    times: np.ndarray,
    share: np.ndarray,
) -> str:
    curves = {
        side: np.interp(times, motor.time, getattr(motor, what))
        for side in (Side.RIGHT, Side.LEFT)
        for motor in motors
        if motor.name == f"{side.value} {name}"
    }
    return _plot(f"{name}, {what}", {"torque": "N m", "power": "W"}[what], share, curves)


def _plot(title: str, unit: str, share: np.ndarray, curves: dict[Side, np.ndarray]) -> str:
    extent = nice_range(np.concatenate(list(curves.values())), min_span=1.0, zero=True)
    plot = Plot(title, (0.0, 100.0), extent, "cycle (%)", unit, alt=title)
    for side, values in curves.items():
        plot.line(100 * share, values, side.value)
    return plot.svg()
