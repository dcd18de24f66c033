"""The folder of a result: tables, summary, log and, with a page writer, the HTML page.

`write_result` writes a folder completely or not at all.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from homodyn.analysis.force_verdicts import residual_light
from homodyn.analysis.load_validity import all_loads_valid
from homodyn.analysis.muscle_tables import MUSCLE_FILES, muscle_summary, write_muscles
from homodyn.analysis.opensim_files import write_opensim_loads, write_opensim_model
from homodyn.analysis.physics_method import comparison_summary
from homodyn.analysis.pipeline import Analysis
from homodyn.analysis.provenance import software_versions
from homodyn.analysis.quality import quality_verdicts
from homodyn.analysis.result_tables import (
    heading_with_unit,
    write_csv,
    write_cycles,
    write_energy,
    write_loads,
    write_motion,
    write_plug_in_gait,
    write_rows,
    write_work,
)
from homodyn.analysis.settings import fingerprint
from homodyn.analysis.verdict import overall_light
from homodyn.capture.kinetics import AccelerationLoss, ForceLoss, residuals
from homodyn.foundation import Record, atomic_folder, record
from homodyn.model import save
from homodyn.motion import FitStatus, Loads
from homodyn.motion.clinical import coordinate_readings

SUMMARY = "summary.json"
PAGE = "report.html"
RESULT_FILES = {
    "model.toml": "the scaled model of the subject",
    "motion.csv": "coordinates, velocities and accelerations (rad, m)",
    "motion.mot": "coordinates for OpenSim (deg, m)",
    "model.osim": "the scaled model for OpenSim, in a world with Y up",
    "torques.csv": "generalized forces (N m, N), and whether each frame is valid",
    "torques.sto": "the same for OpenSim",
    "ground_forces.mot": "ground forces for OpenSim, in the world of model.osim",
    "external_loads.xml": "the bodies that these forces act on, for OpenSim",
    "inverse_dynamics.xml": "setup of OpenSim's InverseDynamicsTool for these files",
    "forces.csv": "ground forces, points and free moments of each foot",
    "markers.csv": "distance of each marker from its position on the model, per frame (m)",
    "events.csv": "foot strikes and foot offs",
    "gait.csv": "gait measures of each side",
    "cycles.csv": "mean and standard deviation of every curve of this page over the cycle",
    "energy.csv": "energy of the body and power of the joints over time",
    "work.csv": "work of each joint per stride",
    "plug_in_gait.csv": "joint angles by the conventions of Plug-in Gait (deg)",
    "emg.csv": "envelopes of the EMG channels",
    **MUSCLE_FILES,
    "summary.json": "the numbers of this page, settings, versions and the fingerprint of the run",
    "log.txt": "stages with their durations, verdicts and notes",
}
"""The files of a result and their content."""


class PageWriter(Protocol):
    """Interface of writers of HTML pages beside the tables, such as `homodyn.report.HtmlPages`.

    Contract: a writer is sent to worker processes, so it must be picklable; it does not change the
    analysis.
    """

    def trial_page(self, analysis: Analysis) -> str:
        """The HTML page of one analysis.

        Args:
            analysis: The result of `analyze`.

        Returns:
            The page as text.
        """

    def write_overview(self, folder: Path) -> Path | None:
        """Write the overview of all results in a folder.

        Args:
            folder: The folder of the results.

        Returns:
            The path of the page; None if there is nothing to show.
        """


def write_result(
    analysis: Analysis,
    folder: str | Path,
    *,
    overwrite: bool = False,
    run_fingerprint: str | None = None,
    pages: PageWriter | None = None,
) -> Path:
    """Write the tables, summary and log of an analysis into a folder of its own.

    Args:
        analysis: The result of `analyze`.
        folder: The folder to write; its parents are created.
        overwrite: Replace a folder that already contains a result.
        run_fingerprint: Fingerprint of the run; computed when omitted.
        pages: Writer of the HTML page; no page is written when omitted.

    Returns:
        The folder.

    Raises:
        FormatError: The folder exists and may not be replaced, or cannot be written.
    """
    folder = Path(folder)
    run_fingerprint = run_fingerprint or fingerprint(analysis.source, analysis.settings)
    with atomic_folder(folder, overwrite=overwrite, is_replaceable=is_result) as temporary:
        _write(analysis, temporary, run_fingerprint, pages)
    return folder


def is_result(folder: Path) -> bool:
    """Whether a folder contains a result, or is empty."""
    return (folder / SUMMARY).is_file() or (folder.is_dir() and not any(folder.iterdir()))


def read_summary(folder: Path, *, with_page: bool = False) -> dict[str, Any]:
    """The summary of a complete result; empty if there is none.

    Args:
        folder: The folder of the result.
        with_page: Whether the result must have a page to be complete.

    Returns:
        The content of ``summary.json``.
    """
    try:
        found = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    complete = isinstance(found, dict) and (not with_page or (folder / PAGE).is_file())
    return found if complete else {}


def origin(source: str | Path) -> str:
    """A digest of the absolute path of a file, to distinguish files of the same name."""
    return hashlib.sha256(str(Path(source).resolve()).encode()).hexdigest()[:16]


def _write(
    analysis: Analysis, folder: Path, run_fingerprint: str, pages: PageWriter | None
) -> None:
    save(analysis.model, folder / "model.toml")
    opensim_notes = write_opensim_model(analysis.model, folder)
    write_motion(analysis.motion, analysis.events, folder)
    write_energy(analysis, folder)
    if analysis.loads is not None:
        write_loads(analysis.loads, folder)
        write_opensim_loads(analysis.loads, folder)
        write_work(analysis, folder)
    if analysis.gait is not None:
        (folder / "gait.csv").write_text(analysis.gait.to_csv(), encoding="utf-8")
    else:
        write_rows(folder / "gait.csv", ["name", "unit", "side", "cycles", "mean", "sd"], [])
    if analysis.cycles.has_cycles:
        write_cycles(analysis, folder)
    if analysis.plug_in_gait is not None:
        write_plug_in_gait(analysis.plug_in_gait, folder)
    if analysis.emg is not None:
        units = analysis.emg.units or ("",) * len(analysis.emg.names)
        heads = [
            heading_with_unit(name, unit)
            for name, unit in zip(analysis.emg.names, units, strict=True)
        ]
        write_csv(folder / "emg.csv", analysis.emg.time, heads, analysis.emg.values)
    if analysis.muscles is not None:
        write_muscles(analysis.muscles, folder)
    if pages is not None:
        (folder / PAGE).write_text(pages.trial_page(analysis), encoding="utf-8")
    log = log_text(analysis) + "".join(f"- {note}\n" for note in opensim_notes)
    (folder / "log.txt").write_text(log, encoding="utf-8")
    text = json.dumps(
        result_summary(analysis, run_fingerprint), indent=2, allow_nan=False, ensure_ascii=False
    )
    (folder / SUMMARY).write_text(text + "\n", encoding="utf-8")


def result_summary(analysis: Analysis, run_fingerprint: str) -> dict[str, Any]:
    """The numbers of a result as plain values; unknown values are None."""
    motion, loads, work = analysis.motion, analysis.loads, analysis.work
    verdicts = quality_verdicts(analysis)
    result: dict[str, Any] = {
        "fingerprint": run_fingerprint,
        "complete": True,
        "trial": analysis.name,
        "source": Path(analysis.source).name,
        "origin": origin(analysis.source),
        "versions": software_versions(),
        "settings": analysis.settings.with_file_names().to_dict(),
        "files": dict(analysis.digests),
        "quality": {
            "light": str(overall_light(verdicts)),
            "verdicts": [
                {"light": str(v.light), "subject": v.subject, "sentence": v.sentence}
                for v in verdicts
            ],
        },
        "model": {"name": analysis.model.name, "mass_kg": analysis.model.mass},
        "coordinates": [
            {"name": reading.coordinate, "clinical_name": reading.title, "sign": reading.sign}
            for reading in coordinate_readings(analysis.model).values()
        ],
        "recording": {
            "frames": analysis.trial.frames,
            "rate_hz": analysis.trial.rate,
            "duration_s": analysis.trial.duration,
            "plates": len(analysis.trial.plates),
        },
        "fit": {
            "rms_m": motion.rms,
            "markers_rms_m": {
                name: _rms(motion.residual[:, k]) for k, name in enumerate(motion.markers)
            },
            "converged_frames": int(np.sum(motion.status == FitStatus.CONVERGED)),
        },
        "scaling": None
        if analysis.scaling is None
        else {
            "status": str(analysis.scaling.status),
            "rms_before_m": analysis.scaling.rms_before,
            "rms_after_m": analysis.scaling.rms_after,
            "rms_by_kind_m": {str(k): v for k, v in analysis.scaling.rms_by_kind.items()},
            "mass_source": str(analysis.scaling.mass_source),
        },
        "residuals": None
        if loads is None
        else {
            **_residuals(loads),
            "forces_predicted": loads.predicted,
        },
        "filter": {
            "cutoff_hz": analysis.cutoff,
            "force_peak_loss": _loss(analysis.force_loss),
            "acceleration_peak_loss": _loss(analysis.acceleration_loss),
        },
        "work": None
        if work is None or loads is None or not all_loads_valid(loads, analysis.cycles)
        else {
            "positive_j": work.total_positive,
            "negative_j": work.total_negative,
            "net_j": work.total_net,
            "absolute_j": work.total_absolute,
        },
        "comparison": None
        if analysis.comparison is None
        else comparison_summary(analysis.comparison),
        "events": [
            {"time_s": event.time, "label": event.label, "side": event.context.lower()}
            for event in analysis.events
        ],
        "gait": [] if analysis.gait is None else analysis.gait.to_table(),
        "muscles": None if analysis.muscles is None else muscle_summary(analysis.muscles),
        "findings": []
        if analysis.health is None
        else [
            {"severity": str(f.severity), "subject": f.subject, "sentence": f.text}
            for f in analysis.health.findings
        ],
        "missing": dict(analysis.missing),
        "notes": list(analysis.notes),
        "seconds": {stage: round(time, 3) for stage, time in analysis.seconds.items()},
    }
    return _plain(result)


def log_text(analysis: Analysis) -> str:
    """Stages with their durations, verdicts, findings and notes."""
    verdicts = quality_verdicts(analysis)
    lines = [
        f"homodyn {analysis.version}: {Path(analysis.source).name}",
        analysis.settings.command_line(analysis.source),
        "",
        *(f"{seconds:8.2f} s  {stage}" for stage, seconds in analysis.seconds.items()),
        "",
        *(f"{verdict.light:5} {verdict.sentence}" for verdict in verdicts),
    ]
    if analysis.matching is not None:
        lines += ["", str(analysis.matching)]
    if analysis.health is not None:
        lines += ["", "Health check:", str(analysis.health)]
    if analysis.scaling is not None:
        lines += ["", "Scaling:", analysis.scaling.summary()]
    lines += ["", "Notes:", *(f"- {note}" for note in analysis.notes)]
    lines += [f"- no {part}: {reason}" for part, reason in analysis.missing.items()]
    return "\n".join(lines) + "\n"


@record
class StoredResult(Record):
    """The result of one trial in its folder."""

    name: str
    """Name of the trial."""
    folder: Path
    content: Mapping[str, Any]
    """The content of ``summary.json``."""

    def headline(self) -> str:
        """Trial and folder."""
        return f"StoredResult {self.name!r} in {self.folder}"

    def measure(self, name: str, side: str) -> dict[str, Any] | None:
        """A gait measure by name and side.

        Args:
            name: Name of the measure.
            side: ``"right"``, ``"left"`` or empty.

        Returns:
            Unit, cycles, mean and standard deviation; None if it was not computed.
        """
        for row in self.content.get("gait", []):
            if (row["name"], row["side"]) == (name, side):
                return dict(row)
        return None

    def curves(self) -> dict[str, np.ndarray]:
        """The columns of ``cycles.csv``; empty if the trial has no gait cycle."""
        try:
            with open(self.folder / "cycles.csv", encoding="utf-8", newline="") as stream:
                head, *rows = csv.reader(stream)
        except (OSError, ValueError):
            return {}
        table = [[float(cell) if cell else np.nan for cell in row] for row in rows]
        return dict(zip(head, np.array(table).T, strict=True))


def find_results(output: str | Path) -> list[StoredResult]:
    """All complete results in the folders of a folder, by name.

    Args:
        output: The folder of the results.

    Returns:
        The results.
    """
    found = []
    for path in sorted(Path(output).glob(f"*/{SUMMARY}")):
        try:
            summary = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(summary, dict) and summary.get("complete"):
            found.append(StoredResult(path.parent.name, path.parent, summary))
    return found


def gait_measures_csv(found: list[StoredResult]) -> str:
    """All gait measures of all trials as CSV, one row per measure."""
    lines = ["trial,measure,unit,side,cycles,mean,sd"]
    for result in found:
        for row in result.content.get("gait", []):
            sd = "" if row["sd"] is None else f"{row['sd']:.6g}"
            texts = [result.name, row["name"], row["unit"], row["side"], str(row["cycles"])]
            cells = [f'"{text}"' if "," in text else text for text in texts]
            lines.append(",".join([*cells, f"{row['mean']:.6g}", sd]))
    return "\n".join(lines) + "\n"


def _residuals(loads: Loads) -> dict[str, Any]:
    """Root residuals as `residuals` defines them, over frames with known ground forces."""
    found = residuals(loads)
    return {
        "light": str(residual_light(loads)),
        "measured_frames": int((loads.covered & (not loads.predicted)).sum()),
        "valid_frames": found.frames,
        "all_frames": found.total_frames,
        "force_limit_n": found.force_limit,
        "moment_limit_n_m": found.moment_limit,
        "force_rms_n": found.rms_force,
        "force_peak_n": found.peak_force,
        "moment_rms_n_m": found.rms_moment,
        "moment_peak_n_m": found.peak_moment,
    }


def _loss(loss: ForceLoss | AccelerationLoss | None) -> float | None:
    """Share of the peak that the filter takes off; None where it is not known."""
    return None if loss is None else loss.share


def _rms(values: np.ndarray) -> float | None:
    kept = values[np.isfinite(values)]
    return float(np.sqrt(np.mean(kept**2))) if kept.size else None


def _plain(value: Any) -> Any:
    """Numbers of numpy as numbers of Python, and None for numbers that are not finite."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return value
