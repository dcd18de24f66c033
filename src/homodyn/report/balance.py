"""Balance in pictures: margins over time, polygons over the feet, the polytopes themselves."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from scipy.spatial import ConvexHull

from homodyn.balance import (
    Evaluation,
    Patch,
    Polytope,
    Scene,
    Stance,
    difficulty,
    evaluate,
    static_polygon,
    wrench_set,
)
from homodyn.balance.polygons import Level
from homodyn.errors import FormatError, NoSolution
from homodyn.model.formats.files import write_text

INK, GREY, GOOD, BAD = "#26313d", "#6b7785", "#1d9a6c", "#c8553d"
SHADES = ("#3b78b5", "#d99a00", "#1d9a6c", "#8d5aa8", "#c8553d", "#4aa3a2", "#7d8a99")
_DPI = 110


def margins_figure(judged: Evaluation) -> Figure:
    """Margins over time: force, moment and wrench, whole body and point mass, phases shaded."""
    figure = Figure(figsize=(9.0, 6.6), layout="constrained")
    plots = figure.subplots(3, 1, sharex=True)
    series = (
        ("force, N", judged.force, judged.point_mass.force),
        ("moment, N m", judged.moment, judged.point_mass.moment),
        ("wrench, N m", judged.wrench, judged.point_mass.wrench),
    )
    whole = judged.demand.kind != "point mass"
    for plot, (title, values, single) in zip(plots, series, strict=True):
        _phase_bands(plot, judged)
        if whole:
            plot.plot(judged.time, single, color=GREY, lw=1.0, ls="--", label="point mass")
        plot.plot(judged.time, values, color=INK, lw=1.6, label=judged.demand.kind)
        plot.axhline(0, color=BAD, lw=0.8)
        plot.set_ylabel(title)
        plot.margins(x=0)
        for side in ("top", "right"):
            plot.spines[side].set_visible(False)
    worst = judged.worst
    plots[2].plot(judged.time[worst], judged.wrench[worst], "o", color=BAD, ms=6)
    plots[0].legend(frameon=False, loc="best", fontsize=8)
    plots[2].set_xlabel("time, s")
    figure.suptitle(_wrapped(judged.sentence), fontsize=9, x=0.01, ha="left", color=INK)
    return figure


def _phase_bands(plot: Any, judged: Evaluation) -> None:
    for k, phase in enumerate(judged.phases):
        if k % 2:
            plot.axvspan(phase.start, phase.end, color="#eef1f4", lw=0)


def polygons_figure(
    stances: Sequence[Stance],
    *,
    mass: float,
    gravity: np.ndarray,
    judged: Evaluation | None = None,
) -> Figure:
    """Seen from above: soles and grasps, the static polygon of each stance, CoM and ZMP paths."""
    level = Level.of(gravity)
    columns = min(len(stances), 4)
    rows = -(-len(stances) // columns)
    areas = [_static(stance, mass, gravity) for stance in stances]
    points = np.vstack(
        [level.flat(stance.points) for stance in stances]
        + [area.vertices for area in areas if area is not None]
    )
    low, high = points.min(axis=0) - 0.15, points.max(axis=0) + 0.15
    wide = 2.6 * columns
    tall = rows * np.clip(2.6 * (high - low)[1] / (high - low)[0], 1.4, 4.5) + 0.7
    figure = Figure(figsize=(wide, tall), layout="constrained")
    plots = np.atleast_1d(figure.subplots(rows, columns, sharex=True, sharey=True)).ravel()
    for k, (plot, stance, area) in enumerate(zip(plots, stances, areas, strict=False)):
        _stance_from_above(plot, stance, level, area)
        if judged is not None:
            _paths_from_above(plot, judged, k, level)
        plot.set_title(f"{k + 1}: {', '.join(stance.names)}", fontsize=7)
        plot.set_aspect("equal")
        plot.set_xlim(low[0], high[0])
        plot.set_ylim(low[1], high[1])
        plot.tick_params(labelsize=7)
    for plot in plots[len(stances) :]:
        plot.set_visible(False)
    figure.supxlabel("m", fontsize=8)
    figure.supylabel("m", fontsize=8)
    told = "soles grey, static polygon green"
    told += "" if judged is None else ", centre of mass black, ZMP orange"
    figure.suptitle(told, fontsize=8, color=GREY)
    return figure


def _static(stance: Stance, mass: float, gravity: np.ndarray) -> Polytope | None:
    try:
        return static_polygon(stance, mass=mass, gravity=gravity)
    except NoSolution:
        return None


def _stance_from_above(plot: Any, stance: Stance, level: Level, area: Polytope | None) -> None:
    for support in stance.supports:
        seen = level.flat(support.corners if isinstance(support, Patch) else support.position[None])
        if len(seen) > 2 and np.linalg.matrix_rank(seen - seen[0], tol=1e-9) > 1:
            outline = seen[ConvexHull(seen).vertices]
            plot.add_patch(Polygon(outline, fc="#d5dbe1", ec=GREY, lw=0.8))
        else:
            plot.plot(*seen.T, "s-", color=GREY, ms=5, lw=2)
    if area is None:
        plot.text(0.5, 0.03, "no static balance", transform=plot.transAxes, ha="center", fontsize=7)
        return
    corners = area.vertices
    if area.flatness == 0:
        corners = corners[ConvexHull(corners).vertices]
        plot.add_patch(Polygon(corners, fc=GOOD, ec=GOOD, alpha=0.25, lw=1.0))
    else:
        plot.plot(*corners.T, "o-", color=GOOD, lw=1.2, ms=3)


def _paths_from_above(plot: Any, judged: Evaluation, k: int, level: Level) -> None:
    held = judged.phase == k
    phase = judged.phases[k]
    back = level.flat(phase.moved(judged.time[held]))
    com = level.flat(judged.demand.com)
    plot.plot(*com.T, color="#c4ccd4", lw=0.8)
    plot.plot(*(com[held] - back).T, color=INK, lw=1.8)
    plot.plot(*(judged.criteria.zmp_place[held] - back).T, color="#d99a00", lw=1.2)


def polytopes_figure(
    stances: Sequence[Stance],
    *,
    com: np.ndarray,
    gravity: np.ndarray,
    force: np.ndarray,
    most: int = 6,
) -> Figure:
    """The forces (N) that each stance can give through the centre of mass, in three dimensions."""
    turn = _upright(gravity)
    chosen = list(stances)[:most]
    columns = min(len(chosen), 3)
    rows = -(-len(chosen) // columns)
    figure = Figure(figsize=(3.6 * columns, 3.5 * rows), layout="constrained")
    for k, stance in enumerate(chosen):
        plot: Any = figure.add_subplot(rows, columns, k + 1, projection="3d")
        at = np.asarray(com)[k] if np.ndim(com) == 2 else np.asarray(com)
        needed = np.asarray(force)[k] if np.ndim(force) == 2 else np.asarray(force)
        wrenches = wrench_set(stance)
        if not wrenches.polytope.bounded:
            # What has no end is shown up to twice the force that is needed.
            wrenches = wrench_set(replace(stance, limit=2 * float(np.linalg.norm(needed))))
        try:
            shape = wrenches.force_slice(at).image(turn)
            _solid(plot, shape, SHADES[k % len(SHADES)])
        except NoSolution:
            plot.text2D(0.3, 0.5, "none through here", transform=plot.transAxes, fontsize=8)
        else:
            plot.computed_zorder = False
            plot.scatter(*(turn @ needed), color=BAD, s=24, depthshade=False, zorder=10)
        plot.set_title(f"{k + 1}: {', '.join(stance.names)}", fontsize=7)
        plot.tick_params(labelsize=6)
        for axis, word in zip("xyz", ("forward", "left", "up"), strict=True):
            getattr(plot, f"set_{axis}label")(f"{word}, N", fontsize=7)
    figure.suptitle(
        "Forces through the centre of mass that the supports can give; the needed one in red",
        fontsize=9,
        color=INK,
    )
    return figure


def _upright(gravity: np.ndarray) -> np.ndarray:
    """Rotation into axes with the last one up, as pictures in three dimensions have it."""
    level = Level.of(gravity)
    return np.array([level.first, level.second, level.up])


def _solid(plot: Any, shape: Polytope, colour: str) -> None:
    corners = shape.vertices
    if shape.flatness:
        plot.plot(*corners.T, "o-", color=colour)
        return
    faces = []
    for held, normal in zip(shape.incidence, shape.A, strict=True):
        on = corners[held]
        first = np.linalg.svd(np.atleast_2d(normal))[2][1:]
        flat = (on - on.mean(axis=0)) @ first.T
        faces.append(on[np.argsort(np.arctan2(flat[:, 1], flat[:, 0]))])
    plot.add_collection3d(Poly3DCollection(faces, fc=colour, ec=INK, lw=0.5, alpha=0.35))
    low, high = corners.min(axis=0), corners.max(axis=0)
    plot.set_xlim(low[0], high[0])
    plot.set_ylim(low[1], high[1])
    plot.set_zlim(low[2], high[2])


def path_figure(judged: Evaluation, boxes: Sequence[Any] = ()) -> Figure:
    """The path of the centre of mass over its supports, coloured by the margin."""
    turn = _upright(judged.demand.gravity)
    figure = Figure(figsize=(6.4, 5.6), layout="constrained")
    plot: Any = figure.add_subplot(projection="3d")
    for phase in judged.phases:
        for support in () if phase.stance is None else phase.stance.supports:
            if isinstance(support, Patch) and len(support.corners) > 2:
                plot.add_collection3d(
                    Poly3DCollection([support.corners @ turn.T], fc="#d5dbe1", ec=GREY, alpha=0.7)
                )
            else:
                plot.scatter(*(turn @ support.middle), color=GREY, marker="s", s=30)
    for box in boxes:
        _wire(plot, turn @ box.center, np.abs(turn @ box.size))
    com = judged.demand.com @ turn.T
    shown = plot.scatter(*com.T, c=judged.wrench, cmap="RdYlGn", s=8, vmin=0)
    figure.colorbar(shown, ax=plot, shrink=0.6, label="wrench margin, N m")
    plot.scatter(*com[judged.worst], color=BAD, s=50, marker="x")
    plot.set_xlabel("forward, m")
    plot.set_ylabel("left, m")
    plot.set_zlabel("up, m")
    plot.set_aspect("equal")
    return figure


def _wire(plot: Any, center: np.ndarray, size: np.ndarray) -> None:
    corners = center + np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)]) * size
    corners = corners - size / 2
    for a in range(8):
        for bit in (1, 2, 4):
            if not a & bit:
                plot.plot(*corners[[a, a | bit]].T, color="#b0b8c1", lw=0.7)


def scene_rows(scene: Scene) -> list[dict[str, object]]:
    """One row for each phase of a scene without a path: room to the next, and static balance."""
    sets = [wrench_set(stance) for stance in scene.stances]
    room = difficulty(sets) if len(sets) > 1 else None
    told: list[dict[str, object]] = []
    for k, (step, stance) in enumerate(zip(scene.steps, scene.stances, strict=True)):
        area = _static(stance, scene.mass, scene.gravity)
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


def write_evaluation(judged: Evaluation, folder: Path, boxes: Sequence[Any] = ()) -> list[Path]:
    """Figures, tables and the sentence on the weakest instant, into a folder."""
    _folder(folder)
    stances = [phase.stance for phase in judged.phases if phase.stance is not None]
    own = judged if len(stances) == len(judged.phases) else None
    middles = [
        int(np.flatnonzero(judged.phase == k)[np.argmin(judged.wrench[judged.phase == k])])
        for k, p in enumerate(judged.phases)
        if p.stance is not None and (judged.phase == k).any()
    ]
    shown = [judged.phases[judged.phase[f]].stance for f in middles]
    shifts = [judged.phases[judged.phase[f]].moved(judged.time[[f]])[0] for f in middles]
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
    write_text(folder / "summary.txt", judged.sentence + "\n")
    return [*written, folder / "summary.txt"]


def write_scene(scene: Scene, folder: Path) -> tuple[str, list[Path]]:
    """What can be told of a scene before a motion is planned; with a path, the motion judged."""
    if scene.path is not None:
        time = np.linspace(scene.path.instants[0], scene.path.instants[-1], 401)
        judged = evaluate(scene.demand(time), scene.phases)
        return judged.sentence, write_evaluation(judged, folder, scene.boxes)
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


def _frames(judged: Evaluation) -> list[dict[str, object]]:
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
        for k in np.flatnonzero(judged.judged)
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
    handle, beside = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    try:
        figure.savefig(beside, dpi=_DPI)
        os.chmod(beside, 0o644)
        os.replace(beside, path)
    except OSError as error:
        Path(beside).unlink(missing_ok=True)
        raise FormatError(f"it cannot be written: {error.strerror}", str(path)) from error
    return path


def _wrapped(text: str, width: int = 110) -> str:
    lines, line = [], ""
    for word in text.split():
        if len(line) + len(word) > width:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return "\n".join([*lines, line])
