"""Figures of a search: convergence, best parameters, visits of subspaces, migration."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes as Plot
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from homodyn.errors import SearchError
from homodyn.report.colors import GRAY, INK, SERIES_COLORS
from homodyn.report.model_drawing import save_figure
from homodyn.search import MMPSO, Job, Space, Study
from homodyn.search.jobs.job import stored_job

BEST_COLOR, GENERATION_COLOR, LOCAL_COLOR = SERIES_COLORS[:3]
MAX_SUBSPACES = 40
"""Rows of a visit map; all other subspaces share one more row."""
MAX_BINS = 200


def save_figures(study: Study, folder: str | Path) -> list[Path]:
    """Write all figures that a study has data for.

    Returns:
        The paths of the figures.
    """
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SearchError(f"{place} cannot be created: {error.strerror}") from None
    job = stored_job(study.job)
    figures = {"convergence": convergence(study), "parameters": parallel_coordinates(study)}
    if job.pools:
        figures["visits"] = visit_map(study)
    if isinstance(job.optimizer, MMPSO) and job.pools:
        figures["migration"] = migration_curves(job)
    paths = []
    for name, figure in figures.items():
        path = place / f"{name}.png"
        save_figure(figure, path)
        paths.append(path)
    return paths


def convergence(study: Study) -> Figure:
    """Best so far, best and mean of each generation; one panel per stage that was reached."""
    job, rows = stored_job(study.job), study.generations()
    if not rows:
        raise SearchError(f"{study.place} has no complete generation to plot")
    number = np.array([row.number for row in rows])
    stage = np.array([row.best_stage for row in rows])
    best = np.array([row.best_value for row in rows])
    mean = np.array([np.nan if row.mean_value is None else row.mean_value for row in rows])
    reached = sorted({int(s) for s in stage if s >= 0}) or [0]
    figure = Figure(figsize=(8, 1.2 + 2.6 * len(reached)), layout="constrained")
    plots = figure.subplots(len(reached), 1, sharex=True, squeeze=False)[:, 0]
    for plot, level in zip(plots, reached, strict=True):
        in_stage = stage == level
        sign = -1.0 if job.goal.describe(level, 1.0)[1] < 0 else 1.0
        so_far = np.minimum.accumulate(np.where(in_stage, best, np.inf))
        so_far[~np.isfinite(so_far)] = np.nan
        # After a stage is completed, its objective no longer ranks the candidates.
        completed = np.flatnonzero(np.maximum.accumulate(stage) > level)
        if len(completed):
            so_far[completed[0] :] = np.nan
        means, bests = (sign * np.where(in_stage, figure, np.nan) for figure in (mean, best))
        plot.plot(number, means, color=GRAY, lw=1, label="mean of a generation")
        plot.plot(number, bests, ".", color=GENERATION_COLOR, ms=3, label="best of a generation")
        plot.plot(number, sign * so_far, color=BEST_COLOR, lw=1.6, label="best so far")
        name = job.goal.describe(level, 0.0)[0]
        unit = next((o.unit for o in job.objectives if o.name == name and o.unit), "")
        plot.set_ylabel(f"{name} ({unit})" if unit else name)
        if job.goal.stages:
            plot.set_title(f"stage {level + 1} of {job.goal.stages + 1}", loc="left", fontsize=9)
        shown = np.concatenate((means, bests, sign * so_far))
        shown = shown[np.isfinite(shown)]
        # On a linear axis the means of the first generations would hide the other curves.
        if len(shown) and shown.min() > 0 and shown.max() / shown.min() > 10:
            plot.set_yscale("log")
        _style_axes(plot)
    plots[0].legend(frameon=False, fontsize=8, ncols=3, loc="upper right")
    plots[-1].set_xlabel("generation")
    plots[-1].xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.suptitle(f"{study.name}: convergence", color=INK, fontsize=11)
    return figure


def parallel_coordinates(study: Study, count: int = 150) -> Figure:
    """The best candidate of each generation as a line over all parameters, early pale, late dark.

    The best candidate of the study is red. At most ``count`` generations are drawn, evenly
    spaced.
    """
    job, found, best = stored_job(study.job), study.leaders(), study.best()
    if not len(found):
        raise SearchError(f"{study.place} has no evaluated candidate")
    space = job.space
    chosen = np.unique(np.linspace(0, len(found) - 1, min(count, len(found))).astype(int))
    unit = _heights(space, found.values[chosen])
    figure = Figure(figsize=(max(6.0, 1.1 * space.size + 2), 4.6), layout="constrained")
    plot = figure.subplots()
    x = np.arange(space.size)
    shades = colormaps["viridis_r"](np.linspace(0.05, 0.95, len(unit)))
    for row, shade in zip(unit, shades, strict=True):
        plot.plot(x, row, color=shade, lw=0.8, alpha=0.6, marker=".", ms=3)
    top = _heights(space, best.values)[0]
    plot.plot(x, top, color=BEST_COLOR, lw=2.0, marker="o", ms=4, zorder=5)
    for k, parameter in enumerate(space.parameters):
        plot.plot([k, k], [0, 1], color=GRAY, lw=0.6, zorder=0)
        for height, bound, side in ((0, parameter.lower, "top"), (1, parameter.upper, "bottom")):
            away = -0.015 if side == "top" else 0.015
            plot.text(
                k, height + away, f"{bound:.4g}", ha="center", va=side, fontsize=7, color=GRAY
            )
    labels = [f"{p.name} ({p.unit})" if p.unit else p.name for p in space.parameters]
    crowded = max(map(len, labels)) > 8 and space.size > 4
    plot.set_xticks(x, labels, rotation=35 if crowded else 0, ha="right" if crowded else "center")
    plot.tick_params(axis="x", length=0, pad=12)
    plot.set_yticks([])
    plot.set_ylim(-0.06, 1.06)
    plot.set_xlim(-0.4, space.size - 0.6)
    for spine in plot.spines.values():
        spine.set_visible(False)
    title = f"{study.name}: best of each generation (early pale, late dark), best of all (red)"
    plot.set_title(title, color=INK, fontsize=11, pad=14)
    return figure


def _heights(space: Space, values: np.ndarray) -> np.ndarray:
    """Values scaled to 0 to 1 between their bounds; NaN where a candidate lacks a parameter."""
    known = ~np.isnan(values)
    return np.where(known, space.unit(np.where(known, values, space.lower)), np.nan)


def visit_map(study: Study) -> Figure:
    """Number of candidates per subspace and generation; the most visited subspaces first."""
    job, visits = stored_job(study.job), study.visits()
    if not visits:
        raise SearchError(f"{study.place} has no candidates to plot")
    totals: dict[bytes, int] = {}
    for _, groups, count in visits:
        totals[groups.tobytes()] = totals.get(groups.tobytes(), 0) + count
    order = sorted(totals, key=lambda key: (-totals[key], key))
    shown = order[:MAX_SUBSPACES]
    row_of = {key: row for row, key in enumerate(shown)}
    rest = len(order) > len(shown)
    last = max(generation for generation, _, _ in visits) + 1
    width = max(1, -(-last // MAX_BINS))
    table = np.zeros((len(shown) + rest, -(-last // width)))
    for generation, groups, count in visits:
        table[row_of.get(groups.tobytes(), len(shown)), generation // width] += count
    figure = Figure(figsize=(9, 1.6 + 0.24 * len(table)), layout="constrained")
    plot = figure.subplots()
    image = plot.imshow(
        np.where(table > 0, table, np.nan),
        aspect="auto",
        interpolation="nearest",
        cmap="viridis_r",
        norm=LogNorm(1, max(2.0, table.max())),
        extent=(0, table.shape[1] * width, len(table) - 0.5, -0.5),
    )
    names = [
        " | ".join(job.space.structure(np.frombuffer(key, dtype="<i4")).values()) for key in shown
    ]
    if rest:
        names.append(f"{len(order) - len(shown)} others")
    plot.set_yticks(range(len(names)), [name[:60] for name in names], fontsize=7)
    plot.set_ylabel(" | ".join(pool.name for pool in job.pools)[:100])
    plot.xaxis.set_major_locator(MaxNLocator(integer=True))
    plot.set_xlabel("generation")
    share = f"{len(order)} of {job.space.subspaces} subspaces visited"
    plot.set_title(f"{study.name}: {share}", color=INK, fontsize=11)
    per = "generation" if width == 1 else f"{width} generations"
    figure.colorbar(image, label=f"candidates per {per}")
    return figure


def migration_curves(job: Job) -> Figure:
    """Migration probabilities over the iterations."""
    assert isinstance(job.optimizer, MMPSO)
    curves = job.optimizer.probabilities(job.iterations)
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    plot = figure.subplots()
    names = ("explore: any group", "local: best of the particle", "global: best of all")
    # Equal probabilities coincide: gaps in the upper lines show the lower ones.
    styles = ((GENERATION_COLOR, "-"), (LOCAL_COLOR, (0, (6, 3))), (BEST_COLOR, (0, (2, 4))))
    for curve, name, (color, style) in zip(curves.T, names, styles, strict=True):
        plot.plot(curve, color=color, lw=1.8, ls=style, label=name)
    plot.plot(curves.sum(axis=1), color=GRAY, lw=1, label="sum")
    plot.set_xlabel("generation")
    plot.set_ylabel("probability per pool")
    plot.set_ylim(0, None)
    plot.set_title(f"{job.name}: migration", color=INK, fontsize=11)
    plot.legend(frameon=False, fontsize=8)
    _style_axes(plot)
    return figure


def _style_axes(plot: Plot) -> None:
    plot.spines[["top", "right"]].set_visible(False)
    plot.grid(True, color="#e4e8ec", lw=0.6)
    plot.set_axisbelow(True)
