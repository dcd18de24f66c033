"""Balance results in a folder: figures, tables and a sentence on the smallest margin."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from homodyn.balance import (
    BalanceEvaluation,
    ComPlan,
    Scene,
    evaluate,
    plan_com,
    scene_phases,
    scene_stances,
    scene_wrench,
    wrench_set,
)
from homodyn.balance.scene_phases import scene_mass
from homodyn.balance.wrenches import transition_difficulty
from homodyn.errors import FormatError
from homodyn.foundation import atomic_file, count_of, write_text
from homodyn.motion import Obstacle
from homodyn.report.balance_figures import (
    margins_figure,
    path_figure,
    polygons_figure,
    polytopes_figure,
    static_area,
)
from homodyn.report.com_plan_figures import com_plan_figure

_DOTS_PER_INCH = 110


def scene_rows(scene: Scene) -> list[dict[str, object]]:
    """One row per phase of a scene without a path: margin to the next phase, static polygon."""
    stances = scene_stances(scene)
    sets = [wrench_set(stance) for stance in stances]
    difficulty = transition_difficulty(sets) if len(sets) > 1 else None
    rows: list[dict[str, object]] = []
    for k, (step, stance) in enumerate(zip(scene.steps, stances, strict=True)):
        area = static_area(stance, scene_mass(scene), scene.gravity)
        static = "none" if area is None else f"{len(area.vertices)} corners"
        row: dict[str, object] = {
            "phase": step.name,
            "supports": " + ".join(step.supports),
            "min_duration_s": step.min_duration,
            "static_polygon": static,
        }
        if difficulty is not None and k < len(difficulty.radii):
            row["margin_to_next_Nm"] = round(difficulty.radii[k], 3)
        rows.append(row)
    return rows


def is_result(folder: Path) -> bool:
    """Whether a folder has the files of an earlier evaluation.

    Args:
        folder: An existing folder.

    Returns:
        True if it may be replaced by another evaluation.
    """
    return all((folder / name).is_file() for name in ("phases.csv", "summary.txt"))


def write_evaluation(
    evaluation: BalanceEvaluation,
    folder: Path,
    obstacles: Sequence[Obstacle] = (),
    *,
    more: str = "",
) -> list[Path]:
    """Write figures, tables and ``summary.txt`` of an evaluation into a folder.

    Args:
        evaluation: The evaluation.
        folder: The folder; it is created if necessary.
        obstacles: Obstacles to draw.
        more: Text appended to the sentence on the smallest margin.

    Returns:
        The files that were written.
    """
    _create_folder(folder)
    stances = [phase.stance for phase in evaluation.phases if phase.stance is not None]
    with_paths = evaluation if len(stances) == len(evaluation.phases) else None
    # The frame with the smallest margin of each phase that has a stance.
    frames = [np.flatnonzero(evaluation.phase == k) for k in range(len(evaluation.phases))]
    weakest = [
        int(own[np.argmin(evaluation.wrench[own])])
        for own, phase in zip(frames, evaluation.phases, strict=True)
        if phase.stance is not None and len(own)
    ]
    phases = [evaluation.phases[evaluation.phase[f]] for f in weakest]
    shown = [phase.stance for phase in phases]
    shifts = [
        phase.belt_displacement(evaluation.time[[f]])[0]
        for f, phase in zip(weakest, phases, strict=True)
    ]
    demand = evaluation.demand
    written = [
        _save(margins_figure(evaluation), folder / "margins.png"),
        _save(
            polygons_figure(
                stances[:12], mass=demand.mass, gravity=demand.gravity, evaluation=with_paths
            ),
            folder / "polygons.png",
        ),
        _save(
            polytopes_figure(
                [s for s in shown if s is not None],
                com=demand.com[weakest] - np.array(shifts),
                gravity=demand.gravity,
                force=demand.force[weakest],
            ),
            folder / "polytopes.png",
        ),
        _save(path_figure(evaluation, obstacles), folder / "path.png"),
        _table(evaluation.rows(), folder / "phases.csv"),
        _table(_frames(evaluation), folder / "margins.csv"),
    ]
    write_text(folder / "summary.txt", f"{evaluation.sentence}{more}\n")
    return [*written, folder / "summary.txt"]


def plates_sentence(measured: BalanceEvaluation) -> str:
    """The share of frames in which the stances can exert the measured wrench."""
    names = {1: "single support", 2: "double support"}
    parts = [f"{names.get(n, f'{n} supports')} {100 * s:.0f} %" for n, s in measured.shares.items()]
    return (
        f" The stances can exert the wrench measured by the plates in "
        f"{100 * measured.balanced_share:.0f} % of "
        f"{count_of(int(measured.evaluated.sum()), 'frame')} ({', '.join(parts)})."
    )


def write_scene(scene: Scene, folder: Path, *, plan: bool | None = None) -> tuple[str, list[Path]]:
    """Write the balance of a scene into a folder.

    A scene with a path is evaluated along it. A scene without one gets a planned path if it defines
    a start and a goal; otherwise the stances alone are evaluated.

    Args:
        scene: The scene.
        folder: The folder; it is created if necessary.
        plan: True plans a path even if the scene has one; False never plans.

    Returns:
        A sentence on the result, and the files that were written.
    """
    if plan or (plan is None and scene.path is None and scene.plan is not None):
        return _write_plan(plan_com(scene), folder)
    if scene.path is not None:
        time = np.linspace(scene.path.instants[0], scene.path.instants[-1], 401)
        evaluation = evaluate(scene_wrench(scene, time), scene_phases(scene))
        return evaluation.sentence, write_evaluation(evaluation, folder, scene.obstacles)
    return _write_stances(scene, folder)


def _write_plan(found: ComPlan, folder: Path) -> tuple[str, list[Path]]:
    # Moments about the reference point of the plan, so that tables and sentence agree.
    objective = found.objective
    about = objective.about if objective.fixed else None
    demand = found.required_wrench(np.linspace(0, found.duration, 401))
    evaluation = evaluate(demand, found.phases, about=about, unit=objective.unit)
    written = write_evaluation(evaluation, folder, found.scene.obstacles)
    figure = _save(com_plan_figure(found), folder / "plan.png")
    sentence = found.sentence
    if found.difficulty is not None and objective.fixed:
        sentence += f" No path has a margin above {found.difficulty.index:.2f} N m throughout."
    write_text(folder / "summary.txt", sentence + "\n")
    return sentence, [figure, *written]


def _write_stances(scene: Scene, folder: Path) -> tuple[str, list[Path]]:
    """Polygons, polytopes and transition margins of a scene without a motion."""
    _create_folder(folder)
    stances, mass = scene_stances(scene), scene_mass(scene)
    rows = scene_rows(scene)
    radii = [float(str(row["margin_to_next_Nm"])) for row in rows if "margin_to_next_Nm" in row]
    hardest = int(np.argmin(radii)) if radii else 0
    sentence = (
        f"The hardest transition is between phases {hardest + 1} and {hardest + 2}: "
        f"no motion has a margin above {radii[hardest]:.2f} N m throughout."
        if radii
        else "The scene has one stance, so there is no transition."
    )
    start = np.zeros(3) if scene.plan is None else scene.plan.start
    written = [
        _save(
            polygons_figure(stances[:12], mass=mass, gravity=scene.gravity),
            folder / "polygons.png",
        ),
        _save(
            polytopes_figure(
                stances,
                com=start,
                gravity=scene.gravity,
                force=-mass * scene.gravity,
            ),
            folder / "polytopes.png",
        ),
        _table(rows, folder / "phases.csv"),
    ]
    write_text(folder / "summary.txt", sentence + "\n")
    return sentence, [*written, folder / "summary.txt"]


def _frames(evaluation: BalanceEvaluation) -> list[dict[str, object]]:
    return [
        {
            "time_s": float(evaluation.time[k]),
            "phase": int(evaluation.phase[k]) + 1,
            "force_N": float(evaluation.force[k]),
            "moment_Nm": float(evaluation.moment[k]),
            "wrench_Nm": float(evaluation.wrench[k]),
            "point_mass_wrench_Nm": float(evaluation.point_mass.wrench[k]),
            "com_projection_m": float(evaluation.criteria.com_projection[k]),
            "zmp_m": float(evaluation.criteria.zmp[k]),
            "fri_m": float(evaluation.criteria.fri[k]),
            "cmp_m": float(evaluation.criteria.cmp[k]),
            "xcom_m": float(evaluation.criteria.xcom[k]),
            "cwc_Nm": float(evaluation.criteria.cwc[k]),
        }
        for k in np.flatnonzero(evaluation.evaluated)
    ]


def _create_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"the folder cannot be created: {error.strerror}", str(folder)) from error


def _table(rows: Sequence[dict[str, object]], path: Path) -> Path:
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, text.getvalue())
    return path


def _save(figure: Figure, path: Path) -> Path:
    with atomic_file(path) as temporary:
        figure.savefig(temporary, dpi=_DOTS_PER_INCH)
    return path
