"""Balance written into a folder: pictures, tables and a sentence on the weakest instant."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from homodyn.balance import (
    BalanceEvaluation,
    ComPlan,
    Scene,
    evaluate,
    plan_com,
    transition_difficulty,
    wrench_set,
)
from homodyn.errors import FormatError
from homodyn.foundation import atomic_file, write_text
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
    """One row for each phase of a scene without a path: room to the next, and static balance."""
    sets = [wrench_set(stance) for stance in scene.stances]
    room = transition_difficulty(sets) if len(sets) > 1 else None
    told: list[dict[str, object]] = []
    for k, (step, stance) in enumerate(zip(scene.steps, scene.stances, strict=True)):
        area = static_area(stance, scene.mass, scene.gravity)
        static = "none" if area is None else f"{len(area.vertices)} corners"
        row: dict[str, object] = {
            "phase": step.name,
            "supports": " + ".join(step.supports),
            "shortest_s": step.shortest,
            "static_polygon": static,
        }
        if room is not None and k < len(room.radii):
            row["room_to_next_Nm"] = round(room.radii[k], 3)
        told.append(row)
    return told


def write_evaluation(
    judged: BalanceEvaluation, folder: Path, boxes: Sequence[Any] = (), *, more: str = ""
) -> list[Path]:
    """Figures, tables, the sentence on the weakest instant and ``more`` words, into a folder."""
    _folder(folder)
    stances = [phase.stance for phase in judged.phases if phase.stance is not None]
    own = judged if len(stances) == len(judged.phases) else None
    middles = [
        int(np.flatnonzero(judged.phase == k)[np.argmin(judged.wrench[judged.phase == k])])
        for k, p in enumerate(judged.phases)
        if p.stance is not None and (judged.phase == k).any()
    ]
    shown = [judged.phases[judged.phase[f]].stance for f in middles]
    shifts = [
        judged.phases[judged.phase[f]].belt_displacement(judged.time[[f]])[0] for f in middles
    ]
    demand = judged.demand
    written = [
        _save(margins_figure(judged), folder / "margins.png"),
        _save(
            polygons_figure(stances[:12], mass=demand.mass, gravity=demand.gravity, judged=own),
            folder / "polygons.png",
        ),
        _save(
            polytopes_figure(
                [s for s in shown if s is not None],
                com=demand.com[middles] - np.array(shifts),
                gravity=demand.gravity,
                force=demand.force[middles],
            ),
            folder / "polytopes.png",
        ),
        _save(path_figure(judged, boxes), folder / "path.png"),
        _table(judged.rows(), folder / "phases.csv"),
        _table(_frames(judged), folder / "margins.csv"),
    ]
    write_text(folder / "summary.txt", f"{judged.sentence}{more}\n")
    return [*written, folder / "summary.txt"]


def plates_sentence(told: BalanceEvaluation) -> str:
    """In how many frames the measured wrench can be given by the stances."""
    words = {1: "single support", 2: "double support"}
    parts = [f"{words.get(n, f'{n} supports')} {100 * s:.0f} %" for n, s in told.shares.items()]
    return (
        f" The wrench that the plates measured lies inside in {100 * told.balanced_share:.0f} % of "
        f"{int(told.evaluated.sum())} frames ({', '.join(parts)})."
    )


def write_scene(scene: Scene, folder: Path, *, plan: bool | None = None) -> tuple[str, list[Path]]:
    """The path of a scene judged; where it has none, one is planned, if the scene says from where.

    ``plan`` True plans in any case, False never: what can be told of the stances alone is then all.
    """
    if plan or (plan is None and scene.path is None and scene.plan is not None):
        return _write_plan(plan_com(scene), folder)
    if scene.path is not None:
        time = np.linspace(scene.path.instants[0], scene.path.instants[-1], 401)
        judged = evaluate(scene.required_wrench(time), scene.phases)
        return judged.sentence, write_evaluation(judged, folder, scene.boxes)
    return _write_stances(scene, folder)


def _write_plan(found: ComPlan, folder: Path) -> tuple[str, list[Path]]:
    # Moments about the point of the plan: tables and sentence then tell the same margins.
    measure = found.measure
    about = measure.about if measure.fixed else None
    need = found.required_wrench(np.linspace(0, found.duration, 401))
    judged = evaluate(need, found.phases, about=about, unit=measure.unit)
    written = write_evaluation(judged, folder, found.scene.boxes)
    picture = _save(com_plan_figure(found), folder / "plan.png")
    sentence = found.sentence
    if found.difficulty is not None and found.measure.fixed:
        sentence += f" No path can keep more than {found.difficulty.index:.2f} N m throughout."
    write_text(folder / "summary.txt", sentence + "\n")
    return sentence, [picture, *written]


def _write_stances(scene: Scene, folder: Path) -> tuple[str, list[Path]]:
    """Polygons, polytopes and the room between neighbours, without any motion."""
    _folder(folder)
    rows = scene_rows(scene)
    radii = [float(str(row["room_to_next_Nm"])) for row in rows if "room_to_next_Nm" in row]
    hardest = int(np.argmin(radii)) if radii else 0
    sentence = (
        f"Least room between phases {hardest + 1} and {hardest + 2}: no motion can keep more than "
        f"{radii[hardest]:.2f} N m throughout."
        if radii
        else "One stance only: nothing to change."
    )
    start = np.zeros(3) if scene.plan is None else scene.plan.start
    written = [
        _save(
            polygons_figure(scene.stances[:12], mass=scene.mass, gravity=scene.gravity),
            folder / "polygons.png",
        ),
        _save(
            polytopes_figure(
                scene.stances,
                com=start,
                gravity=scene.gravity,
                force=-scene.mass * scene.gravity,
            ),
            folder / "polytopes.png",
        ),
        _table(rows, folder / "phases.csv"),
    ]
    write_text(folder / "summary.txt", sentence + "\n")
    return sentence, [*written, folder / "summary.txt"]


def _frames(judged: BalanceEvaluation) -> list[dict[str, object]]:
    return [
        {
            "time_s": float(judged.time[k]),
            "phase": int(judged.phase[k]) + 1,
            "force_N": float(judged.force[k]),
            "moment_Nm": float(judged.moment[k]),
            "wrench_Nm": float(judged.wrench[k]),
            "point_mass_wrench_Nm": float(judged.point_mass.wrench[k]),
            "com_projection_m": float(judged.criteria.com_projection[k]),
            "zmp_m": float(judged.criteria.zmp[k]),
            "fri_m": float(judged.criteria.fri[k]),
            "cmp_m": float(judged.criteria.cmp[k]),
            "xcom_m": float(judged.criteria.xcom[k]),
            "cwc_Nm": float(judged.criteria.cwc[k]),
        }
        for k in np.flatnonzero(judged.evaluated)
    ]


def _folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"no folder can be made here: {error.strerror}", str(folder)) from error


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
