"""A reconstructed step for people: a folder with a page, tables and a summary."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.analysis.provenance import software_versions
from homodyn.analysis.result_files import PAGE, SUMMARY, is_result
from homodyn.analysis.result_tables import position_columns, rotations, write_csv
from homodyn.capture import (
    Table,
    write_table,
)
from homodyn.foundation import atomic_folder
from homodyn.gait import (
    Reconstruction,
    write_contact_schedule,
)
from homodyn.model import save
from homodyn.model.side import Side
from homodyn.motion import (
    ContactForce,
    Event,
    Loads,
)
from homodyn.report.html import figure, paragraph, table, tile
from homodyn.report.reconstruction_figures import (
    elevation_loops,
    overlays,
    step_forces,
    torques_per_kg,
    tracking_errors,
)
from homodyn.report.replay import asset, pose_strip, replay_data, replay_html

SIDES = ("Right", "Left")
FILES = {
    "motion.csv": "reconstructed coordinates, speeds and accelerations",
    "motion.mot": "reconstructed coordinates for OpenSim (degrees)",
    "torques.csv": "torques (N m) and torques per body mass (N m/kg) of the joints",
    "forces.csv": "ground forces of both feet (N)",
    "tracking.csv": "mean, standard deviation, rms and largest tracking error of each coordinate",
    "phases.csv": "the phases; --phases reads it",
    "model.toml": "the model",
    "summary.json": "the numbers of this page",
}


def write_reconstruction(
    result: Reconstruction,
    folder: str | Path,
    *,
    name: str = "step",
    settings: Mapping[str, Any] | None = None,
    overwrite: bool = False,
) -> Path:
    """Write the page, tables and summary of a reconstruction, completely or not at all.

    Args:
        result: What `homodyn.gait.reconstruct` returned.
        folder: The folder to write; its parents are created.
        name: Title of the page.
        settings: Choices of the user, recorded in the summary.
        overwrite: Replace a folder that already contains a result.

    Returns:
        The folder.

    Raises:
        FormatError: The folder exists and may not be replaced, or cannot be written.
    """
    folder = Path(folder)
    with atomic_folder(folder, overwrite=overwrite, is_replaceable=is_result) as temporary:
        _tables(result, temporary)
        (temporary / PAGE).write_text(reconstruction_page(result, name), encoding="utf-8")
        summary = reconstruction_summary(result, name, settings or {})
        text = json.dumps(summary, indent=2, allow_nan=False, ensure_ascii=False)
        (temporary / SUMMARY).write_text(text + "\n", encoding="utf-8")
    return folder


def reconstruction_summary(
    result: Reconstruction, name: str, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """The numbers of a reconstruction as plain values; what is not known is None."""
    solution, model = result.solution, result.recorded.model
    weight = result.weight
    return {
        "complete": True,
        "kind": "reconstruction",
        "name": name,
        "model": {"name": model.name, "mass_kg": float(model.mass)},
        "settings": dict(settings),
        "versions": software_versions(),
        "status": str(solution.status),
        "sentence": solution.sentence,
        "objective": solution.objective,
        "terms": solution.terms,
        "iterations": solution.iterations,
        "seconds": {key: round(value, 3) for key, value in solution.timings.items()},
        "unknowns": len(solution.transcribed.names),
        "between_nodes": _finite(solution.max_defect),
        "violations": [str(violation) for violation in solution.violations],
        "on_a_bound": list(solution.active_bounds),
        "phases": [
            {"begin_s": f.begin, "end_s": f.end, "right": str(f.right), "left": str(f.left)}
            for f in result.contact_phases
        ],
        "impulses_n_s": {
            phase.name: dict(zip(phase.force_names, map(float, phase.impulse), strict=True))
            for phase in solution.phases
            if len(phase.impulse)
        },
        "tracking_rms": result.tracking_error,
        "forces_tracked": result.tracked,
        "force_errors": {
            error.side: {
                "rms_n": [float(x) for x in error.rms],
                "rms_percent_of_weight": [100 * float(x) / weight for x in error.rms],
                "upward_single_support_percent": _finite(100 * error.single / weight),
                "upward_double_support_percent": _finite(100 * error.double / weight),
            }
            for error in result.force_errors()
        },
    }


def reconstruction_page(result: Reconstruction, name: str) -> str:
    """One HTML file that needs nothing but itself."""
    model, solution = result.recorded.model, result.solution
    sections = {
        "At a glance": _glance(result),
        "Replay": replay_html(
            replay_data(result.motion, _loads(result), _events(result)), pose_strip(result.motion)
        ),
        "Tracking": _figures_html(tracking_errors(result)) + _figures_html(overlays(result)),
        "Torques": _figures_html(torques_per_kg(result)),
        "Ground forces": _figures_html(step_forces(result)) + _force_table(result),
        "Elevation angles": _figures_html(elevation_loops(result))
        or paragraph("The walk is too short for elevation angles.", "empty"),
        "Problem and solution": f"<pre>{escape(solution.transcribed.describe())}\n\n"
        f"{escape(solution.explain())}</pre>"
        + table([("file", ""), ("what is in it", "")], list(FILES.items()), "Beside this page"),
    }
    links = "".join(f'<a href="#{_word(title)}">{title}</a>' for title in sections)
    body = "".join(
        f'<section id="{_word(title)}"><h2>{title}</h2>{content}</section>'
        for title, content in sections.items()
    )
    subtitle = (
        f"model {model.name}: {model.nv} degrees of freedom, {model.mass:.1f} kg · "
        f"{result.contact_phases[-1].end - result.contact_phases[0].begin:.3f} s in "
        f"{len(result.contact_phases)} "
        f"phases · {solution.status}"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(name)}: reconstructed step</title><style>{asset('page.css')}</style>"
        f'</head><body><header><h1>{escape(name)}</h1><p class="sub">{escape(subtitle)}</p>'
        f'</header><nav aria-label="Sections"><div>{links}</div></nav><main>{body}</main>'
        f"<footer>Written by Homodyn {software_versions()['homodyn']}. This page is one "
        "self-contained file.</footer></body></html>\n"
    )


def _glance(result: Reconstruction) -> str:
    solution, model = result.solution, result.recorded.model
    errors = result.tracking_error
    slides = {n: e for n, e in errors.items() if n.rpartition("_")[2] in ("TX", "TY", "TZ")}
    turns = {n: e for n, e in errors.items() if n not in slides}
    light = "good" if solution.status.success else "poor"
    weight = result.weight
    up = [100 * result.ground_force(side)[:, 2].max() / weight for side in SIDES]
    tiles = [
        tile(f"{max(turns.values()):.4f}", "rad rms", f"largest angle error: {_worst(turns)}"),
        tile(f"{solution.iterations}", "", "iterations"),
        tile(f"{len(solution.transcribed.names)}", "", "unknowns"),
        tile(f"{up[0]:.0f} / {up[1]:.0f}", "% of weight", "largest upward force, right / left"),
        tile(
            f"{np.abs(result.per_kg).max():.2f}",
            "N m/kg",
            f"largest torque: {model.coordinate_names[int(np.abs(result.tau).max(0).argmax())]}",
        ),
    ]
    if slides:
        away = tile(f"{1e3 * max(slides.values()):.1f}", "mm rms", f"of {_worst(slides)}")
        tiles.insert(1, away)
    rows = [
        [
            f"{k + 1}",
            f.name,
            f"{f.begin:.3f}",
            f"{f.end:.3f}",
            str(phase.intervals),
            phase.transition,
        ]
        for k, (f, phase) in enumerate(
            zip(result.contact_phases, solution.transcribed.phases, strict=True)
        )
    ]
    columns = [("", "n"), ("phase", ""), ("begin (s)", "n"), ("end (s)", "n")]
    columns += [("intervals", "n"), ("then", "")]
    return (
        f'<div class="glance"><div class="overall {light}"><p><strong class="light {light}">'
        f"{escape(solution.sentence)}</strong></p></div>"
        f'<div class="tiles">{"".join(tiles)}</div></div>' + table(columns, rows)
    )


def _force_table(result: Reconstruction) -> str:
    weight = result.weight
    rows = [
        [
            error.side,
            *(f"{100 * x / weight:.1f}" for x in error.rms),
            *(_part(x / weight) for x in (error.single, error.double)),
        ]
        for error in result.force_errors()
    ]
    if not rows:
        return paragraph("No plates measured this step, so there is nothing to compare with.")
    columns = [("foot", ""), ("forward", "n"), ("to the left", "n"), ("upward", "n")]
    columns += [("upward, one foot stands", "n"), ("upward, both stand", "n")]
    how = "tracked" if result.tracked else "not used"
    return table(columns, rows, f"Error against the plates ({how}), rms in % of body weight")


def _tables(result: Reconstruction, folder: Path) -> None:
    model, fitted = result.recorded.model, result.motion
    save(model, folder / "model.toml")
    names, kinds = position_columns(model)
    units = [{"slide": "m", "turn": "rad", "quaternion": "1"}[kind] for kind in kinds]
    heads = [f"{n} ({u})" for n, u in zip(names, units, strict=True)]
    for word, slide, turn in (("speed", "m/s", "rad/s"), ("acceleration", "m/s2", "rad/s2")):
        heads += [
            f"{name} {word} ({turn if turns else slide})"
            for name, turns in zip(model.coordinate_names, rotations(model), strict=True)
        ]
    values = np.column_stack([fitted.q, fitted.v, fitted.a])
    write_csv(folder / "motion.csv", fitted.time, heads, values)
    degrees = np.where([kind == "turn" for kind in kinds], np.rad2deg(1.0), 1.0)
    write_table(
        Table(tuple(names), fitted.time, fitted.q * degrees, True, "Coordinates"),
        folder / "motion.mot",
    )
    driven = [k for k in range(model.nv) if np.any(result.tau[:, k])]
    heads = [f"{model.coordinate_names[k]} (N m)" for k in driven]
    heads += [f"{model.coordinate_names[k]} per mass (N m/kg)" for k in driven]
    torques = np.column_stack([result.tau[:, driven], result.per_kg[:, driven]])
    write_csv(folder / "torques.csv", result.time, heads, torques)
    forces = np.column_stack([result.ground_force(side) for side in SIDES])
    heads = [f"{side} {axis} (N)" for side in SIDES for axis in "xyz"]
    write_csv(folder / "forces.csv", result.time, heads, forces)
    write_contact_schedule(result.contact_phases, folder / "phases.csv")
    with open(folder / "tracking.csv", "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["coordinate", "unit", "mean", "sd", "rms", "largest"])
        for k, turns in enumerate(rotations(model)):
            off = result.deviation[:, k]
            numbers = (off.mean(), off.std(), np.sqrt((off**2).mean()), np.abs(off).max())
            unit = "rad" if turns else "m"
            writer.writerow([model.coordinate_names[k], unit, *(f"{x:.6g}" for x in numbers)])


def _loads(result: Reconstruction) -> Loads:
    """Forces of the feet as the replay shows them, at a point between the contacts of each."""
    model, fitted = result.recorded.model, result.motion
    feet = []
    for side in SIDES:
        force = np.column_stack(
            [np.interp(fitted.time, result.time, c) for c in result.ground_force(side).T]
        )
        point = np.full_like(force, np.nan)
        pressed = result.center_of_pressure(side)
        known = np.isfinite(pressed).all(axis=1)
        if known.any():
            near = np.interp(fitted.time, result.time[known], np.arange(known.sum()))
            point = pressed[known][np.rint(near).astype(int)]
            point[force[:, 2] < 1.0] = np.nan
        feet.append(
            ContactForce(f"Foot{side}", Side(side.lower()), force, point, np.zeros_like(force))
        )
    none = np.zeros((len(fitted.time), 3))
    still = np.zeros((len(fitted.time), model.nv))
    return Loads(fitted, still, (), none, none, tuple(feet))


def _events(result: Reconstruction) -> list[Event]:
    return [Event(f.begin, f.name, "General") for f in result.contact_phases[1:]]


def _figures_html(figures: list[Any]) -> str:
    return "".join(figure(one) for one in figures)


def _worst(errors: Mapping[str, float]) -> str:
    return max(errors, key=lambda name: errors[name])


def _word(title: str) -> str:
    return title.lower().replace(" ", "-")


def _part(value: float) -> str:
    return f"{100 * value:.1f}" if np.isfinite(value) else "–"


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
