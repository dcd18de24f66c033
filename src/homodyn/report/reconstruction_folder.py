"""The folder of a reconstructed step: a page, tables and a summary."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.analysis.opensim_files import write_opensim_model
from homodyn.analysis.provenance import software_versions
from homodyn.analysis.result_files import PAGE, SUMMARY, is_result
from homodyn.analysis.result_tables import write_coordinates, write_csv
from homodyn.analysis.step_quality import quality_summary, reconstruction_verdicts
from homodyn.foundation import atomic_folder, count_of
from homodyn.gait import Reconstruction
from homodyn.gait.contact_schedule import write_contact_schedule
from homodyn.gait.reconstruction import ForceError
from homodyn.model import save
from homodyn.motion import (
    Event,
    Loads,
    Side,
)
from homodyn.motion.clinical import coordinate_label
from homodyn.motion.coordinate_columns import angular_coordinates
from homodyn.report.html import (
    figures_html,
    page_html,
    paragraph,
    sections_html,
    table,
    tile,
)
from homodyn.report.reconstruction_figures import (
    elevation_loops,
    overlays,
    step_forces,
    torques_per_kg,
    tracking_errors,
)
from homodyn.report.replay import pose_strip, replay_data, replay_html
from homodyn.report.verdict_list import verdicts_html

FILES = {
    "motion.csv": "reconstructed coordinates, speeds and accelerations",
    "motion.mot": "reconstructed coordinates for OpenSim (degrees)",
    "torques.csv": "torques (N m) and torques per body mass (N m/kg) of the joints",
    "forces.csv": "ground forces of both feet (N)",
    "tracking.csv": "mean, standard deviation, rms and largest tracking error of each coordinate",
    "phases.csv": "the phases, as --phases reads them",
    "model.toml": "the model",
    "model.osim": "the model for OpenSim, in a world with Y up",
    "summary.json": "the figures of this page",
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
    """The results of a reconstruction as plain values; None where unknown."""
    solution, model = result.solution, result.recorded.model
    weight = result.weight
    return {
        "complete": True,
        "kind": "reconstruction",
        "name": name,
        "model": {"name": model.name, "mass_kg": float(model.mass)},
        "settings": dict(settings),
        "versions": software_versions(),
        "status": result.status,
        "sentence": result.sentence,
        "quality": quality_summary(reconstruction_verdicts(result)),
        "plate_mass_kg": result.plate_mass,
        "belt_speed_m_s": result.belt_speed,
        "objective": solution.objective,
        "terms": solution.terms,
        "iterations": solution.iterations,
        "seconds": {key: round(value, 3) for key, value in solution.timings.items()},
        "unknowns": len(solution.transcribed.names),
        "between_nodes": _finite(solution.max_defect),
        "violations": [str(violation) for violation in solution.violations],
        "on_a_bound": list(solution.active_bounds),
        "phases": [
            {
                "begin_s": f.begin,
                "end_s": f.end,
                "right": str(f.right),
                "left": str(f.left),
                "confidence": f.confidence,
            }
            for f in result.contact_phases
        ],
        "impulses_n_s": {
            phase.name: dict(zip(phase.force_names, map(float, phase.impulse), strict=True))
            for phase in solution.phases
            if len(phase.impulse)
        },
        "tracking_rms": result.tracking_error,
        "hidden_coordinates": list(result.hidden_coordinates),
        "friction": {
            "coefficient": result.friction,
            "required": result.required_friction,
            "plates_exceed_it": [
                {
                    "side": excess.side,
                    "begin_s": excess.begin,
                    "end_s": excess.end,
                    "required": excess.required,
                    "beyond_percent_of_weight": 100 * excess.beyond,
                }
                for excess in result.friction_excesses
            ],
        },
        "torque_errors_n_m_kg": {
            name: _finite(error) for name, error in result.torque_errors().items()
        },
        "forces_tracked": result.tracked,
        "forces": _force_summary(result.force_errors(), weight),
        "plain_estimate_forces": _force_summary(result.plain_force_errors(), weight),
    }


def _force_summary(errors: Sequence[ForceError], weight: float) -> dict[str, Any]:
    """Errors of ground forces by side, in N and % of body weight."""
    return {
        error.side: {
            "rms_n": [float(x) for x in error.rms],
            "rms_percent_of_weight": [100 * float(x) / weight for x in error.rms],
            "upward_single_support_percent": _finite(100 * error.single / weight),
            "upward_double_support_percent": _finite(100 * error.double / weight),
        }
        for error in errors
    }


def reconstruction_page(result: Reconstruction, name: str) -> str:
    """The page of a reconstruction: one self-contained HTML file."""
    model, solution = result.recorded.model, result.solution
    sections = {
        "At a glance": _glance(result),
        "Replay": replay_html(
            replay_data(result.motion, Loads.from_motion(result.motion), _events(result)),
            pose_strip(result.motion),
        ),
        "Tracking": figures_html(tracking_errors(result)) + figures_html(overlays(result)),
        "Torques": figures_html(torques_per_kg(result)),
        "Ground forces": figures_html(step_forces(result)) + _force_table(result),
        "Elevation angles": figures_html(elevation_loops(result))
        or paragraph("The walk is too short for elevation angles.", "empty"),
        "Problem and solution": f"<pre>{escape(solution.transcribed.describe())}\n\n"
        f"{escape(solution.explain())}</pre>"
        + table([("file", ""), ("content", "")], list(FILES.items()), "Files beside this page"),
    }
    links, body = sections_html(
        {title.lower().replace(" ", "-"): (title, html) for title, html in sections.items()}
    )
    subtitle = (
        f"model {model.name}: {model.nv} degrees of freedom, {model.mass:.1f} kg · "
        f"{result.contact_phases[-1].end - result.contact_phases[0].begin:.3f} s in "
        f"{count_of(len(result.contact_phases), 'phase')} · {result.status}"
    )
    return page_html(
        f"{name}: reconstructed step",
        name,
        subtitle,
        body,
        navigation=links,
        footer=f"Written by Homodyn {software_versions()['homodyn']}. "
        "This page is one self-contained file.",
    )


def _glance(result: Reconstruction) -> str:
    solution, weight = result.solution, result.weight
    up = [100 * result.ground_force(side)[:, 2].max() / weight for side in Side]
    tiles = [
        *_tracking_tiles(result),
        tile(f"{up[0]:.0f} / {up[1]:.0f}", "% of weight", "peak upward force, right / left"),
        tile(
            f"{np.abs(result.per_kg).max():.2f}",
            "N m/kg",
            f"peak torque: {_peak_torque(result)}",
        ),
        tile(f"{solution.iterations}", "", "iterations"),
        tile(f"{len(solution.transcribed.names)}", "", "unknowns"),
    ]
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
    columns += [("intervals", "n"), ("ends with", "")]
    return verdicts_html(reconstruction_verdicts(result), "".join(tiles)) + table(columns, rows)


def _force_table(result: Reconstruction) -> str:
    weight = result.weight
    rows = [
        [
            error.side,
            *(f"{100 * x / weight:.1f}" for x in error.rms),
            *(_percent(x / weight) for x in (error.single, error.double)),
        ]
        for error in result.force_errors()
    ]
    if not rows:
        return paragraph("No plates measured this step.")
    columns = [("foot", ""), ("forward", "n"), ("to the left", "n"), ("upward", "n")]
    columns += [("upward, single support", "n"), ("upward, double support", "n")]
    use = "tracked" if result.tracked else "not used in the reconstruction"
    return table(columns, rows, f"Rms error relative to the plates ({use}), % of body weight")


def _tables(result: Reconstruction, folder: Path) -> None:
    model, fitted = result.recorded.model, result.motion
    save(model, folder / "model.toml")
    write_opensim_model(model, folder)
    write_coordinates(fitted, folder)
    driven = [k for k in range(model.nv) if np.any(result.tau[:, k])]
    header = [f"{model.coordinate_names[k]} (N m)" for k in driven]
    header += [f"{model.coordinate_names[k]} per mass (N m/kg)" for k in driven]
    torques = np.column_stack([result.tau[:, driven], result.per_kg[:, driven]])
    write_csv(folder / "torques.csv", result.time, header, torques)
    forces = np.column_stack([result.ground_force(side) for side in Side])
    header = [f"{side.title} {axis} (N)" for side in Side for axis in "xyz"]
    write_csv(folder / "forces.csv", result.time, header, forces)
    write_contact_schedule(result.contact_phases, folder / "phases.csv")
    with open(folder / "tracking.csv", "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["coordinate", "unit", "mean", "sd", "rms", "largest"])
        for k, turns in enumerate(angular_coordinates(model)):
            error = result.deviation[:, k]
            numbers = (error.mean(), error.std(), np.sqrt((error**2).mean()), np.abs(error).max())
            unit = "rad" if turns else "m"
            writer.writerow([model.coordinate_names[k], unit, *(f"{x:.6g}" for x in numbers)])


def _events(result: Reconstruction) -> list[Event]:
    return [Event(f.begin, f.name, "General") for f in result.contact_phases[1:]]


def _tracking_tiles(result: Reconstruction) -> list[str]:
    """The largest errors of an angle and of a position among those that markers show."""
    model, tiles = result.recorded.model, []
    for unit, shown_unit, scale, kind in (
        ("rad", "° rms", float(np.degrees(1.0)), "angle"),
        ("m", "mm rms", 1e3, "position"),
    ):
        if unit in result.largest_errors:
            name, error = result.largest_errors[unit]
            label = f"largest {kind} error: {coordinate_label(model, name)}"
            tiles.append(tile(f"{scale * error:.2g}", shown_unit, label))
    return tiles


def _peak_torque(result: Reconstruction) -> str:
    """The coordinate with the largest torque, with its clinical name."""
    model = result.recorded.model
    return coordinate_label(
        model, model.coordinate_names[int(np.abs(result.tau).max(axis=0).argmax())]
    )


def _percent(value: float) -> str:
    return f"{100 * value:.1f}" if np.isfinite(value) else "–"


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
