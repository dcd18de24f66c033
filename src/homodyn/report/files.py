"""The files of a result: tables with units in their headings, a summary, the page and a log.

`write_analysis` makes a folder that is complete or not there: everything is written into a folder
beside it, which takes its name when it is done.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from homodyn import dynamics
from homodyn.analysis.curves import Curves, angle_curves
from homodyn.analysis.known_loads import all_known, work_of_joints
from homodyn.analysis.load_curves import ground_force_curves, power_curves, torque_curves
from homodyn.analysis.pipeline import Analysis
from homodyn.analysis.settings import fingerprint
from homodyn.capture import (
    Table,
    write_table,
)
from homodyn.errors import FormatError
from homodyn.model import Model, save
from homodyn.motion import (
    Event,
    Loads,
    Motion,
)
from homodyn.report.page import page
from homodyn.report.quality import finding_text, overall, verdicts
from homodyn.report.reproduce import versions

SUMMARY = "summary.json"
PAGE = "report.html"
MEASURED = "measured"
"""Heading of the column of forces.csv that is 1 where plates measured all that feet stand on."""


def write_analysis(
    analysis: Analysis, folder: str | Path, *, overwrite: bool = False, mark: str | None = None
) -> Path:
    """Write a result into a folder of its own, and return the folder.

    A folder that holds a result already is replaced only with ``overwrite``. ``mark`` is the
    fingerprint of the run, found anew when left out.
    """
    folder = Path(folder)
    if folder.exists() and not overwrite:
        raise FormatError(
            "there is a result already; choose another folder, or replace it with --overwrite",
            str(folder),
        )
    if folder.exists() and not is_result(folder):
        raise FormatError(
            "it is not a result of an analysis, so it is not replaced; choose another folder",
            str(folder),
        )
    mark = mark or fingerprint(analysis.source, analysis.settings)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as beside:
            made = Path(beside) / "result"
            made.mkdir()
            _write(analysis, made, mark)
            if folder.exists():
                os.replace(folder, Path(beside) / "before")
            os.replace(made, folder)
    except OSError as error:
        raise FormatError(f"it cannot be written: {error.strerror}", str(folder)) from error
    return folder


def is_result(folder: Path) -> bool:
    """Whether a folder is one that `write_analysis` made, or empty."""
    return (folder / SUMMARY).is_file() or (folder.is_dir() and not any(folder.iterdir()))


def recorded_summary(folder: Path) -> dict[str, Any]:
    """The summary of a complete result; empty where there is none."""
    try:
        found = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and (folder / PAGE).is_file() else {}


def origin(source: str | Path) -> str:
    """A word for where a file lies that does not tell it: two files of one name differ in it."""
    return hashlib.sha256(str(Path(source).resolve()).encode()).hexdigest()[:16]


def _write(analysis: Analysis, folder: Path, mark: str) -> None:
    save(analysis.model, folder / "model.toml")
    write_motion(analysis.motion, analysis.events, folder)
    _energy(analysis, folder)
    if analysis.loads is not None:
        write_loads(analysis.loads, folder)
        _work(analysis, folder)
    if analysis.gait is not None:
        (folder / "gait.csv").write_text(analysis.gait.to_csv(), encoding="utf-8")
    else:
        _rows(folder / "gait.csv", ["name", "unit", "side", "cycles", "mean", "sd"], [])
    if analysis.rhythm.cyclic:
        _cycles(analysis, folder)
    if analysis.emg is not None:
        units = analysis.emg.units or ("",) * len(analysis.emg.names)
        heads = [_head(name, unit) for name, unit in zip(analysis.emg.names, units, strict=True)]
        write_csv(folder / "emg.csv", analysis.emg.time, heads, analysis.emg.values)
    (folder / PAGE).write_text(page(analysis), encoding="utf-8")
    (folder / "log.txt").write_text(log(analysis), encoding="utf-8")
    text = json.dumps(summary(analysis, mark), indent=2, allow_nan=False, ensure_ascii=False)
    (folder / SUMMARY).write_text(text + "\n", encoding="utf-8")


def write_csv(path: Path, time: np.ndarray, heads: Sequence[str], values: np.ndarray) -> None:
    """Columns over time with commas; empty where there is no number."""
    table = np.column_stack([time, values])
    lines = [",".join(_quoted(head) for head in ("time (s)", *heads))]
    lines += [",".join(f"{x:.9g}" if x == x else "" for x in row) for row in table.tolist()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_motion(motion: Motion, events: Sequence[Event], folder: Path) -> None:
    """Tables of coordinates, errors of markers and events of a motion, into a folder."""
    _coordinates(motion, folder)
    _markers(motion, folder)
    _events(events, folder)


def write_loads(loads: Loads, folder: Path) -> None:
    """Tables of torques and forces of a motion, into a folder."""
    _torques(loads, folder)
    _forces(loads, folder)


def _coordinates(motion: Motion, folder: Path) -> None:
    model = motion.model
    names, turning = position_columns(model)
    heads = [_head(name, unit) for name, unit in zip(names, _units(turning), strict=True)]
    rates = [
        _head(f"{name} {word}", unit)
        for word, slide, turn in (
            ("speed", "m/s", "rad/s"),
            ("acceleration", "m/s2", "rad/s2"),
        )
        for name, unit in zip(
            model.coordinate_names,
            [turn if turns else slide for turns in rotations(model)],
            strict=True,
        )
    ]
    everything = np.column_stack([motion.q, motion.v, motion.a])
    write_csv(folder / "motion.csv", motion.time, [*heads, *rates], everything)
    degrees = np.where([kind == "turn" for kind in turning], np.rad2deg(1.0), 1.0)
    write_table(
        Table(tuple(names), motion.time, motion.q * degrees, True, "Coordinates"),
        folder / "motion.mot",
    )


def _torques(loads: Loads, folder: Path) -> None:
    model = loads.motion.model
    turns = rotations(model)
    heads = [
        _head(name, "N m" if turn else "N")
        for name, turn in zip(model.coordinate_names, turns, strict=True)
    ]
    write_csv(folder / "torques.csv", loads.motion.time, heads, loads.tau)
    names = tuple(
        f"{name}_{'moment' if turn else 'force'}"
        for name, turn in zip(model.coordinate_names, turns, strict=True)
    )
    write_table(
        Table(names, loads.motion.time, loads.tau, title="Inverse Dynamics Generalized Forces"),
        folder / "torques.sto",
    )


def _forces(loads: Loads, folder: Path) -> None:
    heads, columns = [], []
    for foot in loads.feet:
        for word, unit, values in (
            ("force", "N", foot.force),
            ("point", "m", foot.point),
            ("moment", "N m", foot.torque),
        ):
            heads += [_head(f"{foot.body} {word} {axis}", unit) for axis in "xyz"]
            columns.append(values)
    for word, unit, values in (
        ("residual force", "N", loads.residual_force),
        ("residual moment", "N m", loads.residual_moment),
    ):
        heads += [_head(f"{word} {axis}", unit) for axis in "xyz"]
        columns.append(values)
    heads.append(MEASURED)
    columns.append((loads.covered & (not loads.predicted)).astype(float)[:, None])
    write_csv(folder / "forces.csv", loads.motion.time, heads, np.column_stack(columns))


def _markers(motion: Motion, folder: Path) -> None:
    heads = [_head(name, "m") for name in motion.markers]
    residual = motion.residual if motion.markers else np.zeros((len(motion.time), 0))
    write_csv(folder / "markers.csv", motion.time, heads, residual)


def _events(events: Sequence[Event], folder: Path) -> None:
    _rows(
        folder / "events.csv",
        ["time (s)", "event", "side", "found by"],
        [
            [f"{event.time:.6g}", event.label, event.context.lower(), event.description]
            for event in sorted(events, key=lambda event: event.time)
        ],
    )


def _energy(analysis: Analysis, folder: Path) -> None:
    motion = analysis.motion
    model = motion.model
    kinetic = dynamics.kinetic_energy(model, motion.q, motion.v)
    potential = dynamics.potential_energy(model, motion.q)
    heads = ["kinetic energy (J)", "potential energy (J)", "energy (J)"]
    columns = [kinetic, potential, kinetic + potential]
    if analysis.loads is not None and analysis.loads.power.size:
        heads += ["power of all joints (W)"]
        columns += [analysis.loads.power.sum(axis=1)]
        joints = [k for k in range(model.nv) if k not in analysis.loads.root]
        heads += [f"{model.coordinate_names[k]} power (W)" for k in joints]
        columns += [analysis.loads.power[:, k] for k in joints]
    write_csv(folder / "energy.csv", motion.time, heads, np.column_stack(columns))


def _work(analysis: Analysis, folder: Path) -> None:
    assert analysis.loads is not None
    _rows(
        folder / "work.csv",
        ["joint", "side", "strides", "given (J)", "taken (J)", "net (J)", "absolute (J)"],
        [
            [
                row.joint,
                row.side,
                str(row.strides),
                *(
                    f"{value:.6g}"
                    for value in (row.given, row.taken, row.net, row.given - row.taken)
                ),
            ]
            for row in work_of_joints(analysis.loads, analysis.rhythm)
        ],
    )


def _cycles(analysis: Analysis, folder: Path) -> None:
    """Mean and standard deviation of the curves of the page at 0 to 100 % of the cycle."""
    curves: list[Curves] = list(angle_curves(analysis.motion, analysis.rhythm))
    if analysis.loads is not None:
        for word, make in (
            ("torque", torque_curves),
            ("", power_curves),
            ("force", ground_force_curves),
        ):
            curves += [
                replace(curve, title=f"{curve.title} {word}".strip())
                for curve in make(analysis.loads, analysis.rhythm)
            ]
    heads, columns = ["gait cycle (%)"], [np.linspace(0.0, 100.0, 101)]
    for curve in curves:
        for side, strand in curve.strands:
            heads += [f"{curve.title} {side} {what} ({curve.unit})" for what in ("mean", "sd")]
            columns += [strand.mean, strand.sd]
    _rows(
        folder / "cycles.csv",
        heads,
        [[f"{x:.6g}" for x in row] for row in np.column_stack(columns).tolist()],
    )


def summary(analysis: Analysis, mark: str) -> dict[str, Any]:
    """The numbers of a result as plain values; what is not known is None."""
    motion, loads, work = analysis.motion, analysis.loads, analysis.work
    found = verdicts(analysis)
    result: dict[str, Any] = {
        "fingerprint": mark,
        "complete": True,
        "trial": analysis.name,
        "source": Path(analysis.source).name,
        "origin": origin(analysis.source),
        "versions": versions(),
        "settings": analysis.settings.portable().to_dict(),
        "files": dict(analysis.digests),
        "quality": {
            "light": overall(found),
            "verdicts": [
                {"light": v.light, "subject": v.subject, "sentence": v.sentence} for v in found
            ],
        },
        "model": {"name": analysis.model.name, "mass_kg": analysis.model.mass},
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
            "converged_frames": int(sum(str(status) == "converged" for status in motion.status)),
        },
        "scaled": None
        if analysis.scaled is None
        else {
            "status": str(analysis.scaled.status),
            "rms_before_m": analysis.scaled.rms_before,
            "rms_after_m": analysis.scaled.rms_after,
        },
        "residuals": None
        if loads is None
        else {
            "force_rms_n": _rms(np.linalg.norm(loads.residual_force, axis=1)),
            "moment_rms_n_m": _rms(np.linalg.norm(loads.residual_moment, axis=1)),
            "forces_predicted": loads.predicted,
        },
        "work": None
        if work is None or loads is None or not all_known(loads, analysis.rhythm)
        else {
            "given_j": work.total_positive,
            "taken_j": work.total_negative,
            "net_j": work.total_net,
            "absolute_j": work.total_absolute,
        },
        "events": [
            {"time_s": event.time, "label": event.label, "side": event.context.lower()}
            for event in analysis.events
        ],
        "gait": [] if analysis.gait is None else analysis.gait.to_table(),
        "findings": []
        if analysis.health is None
        else [
            {"kind": f.kind, "severity": str(f.severity), "sentence": finding_text(f)}
            for f in analysis.health.findings
        ],
        "missing": dict(analysis.missing),
        "remarks": list(analysis.remarks),
        "seconds": {stage: round(time, 3) for stage, time in analysis.seconds.items()},
    }
    return _plain(result)


def log(analysis: Analysis) -> str:
    """What was done, stage by stage, and every remark."""
    found = verdicts(analysis)
    lines = [
        f"homodyn {analysis.version}: {Path(analysis.source).name}",
        analysis.settings.command(analysis.source),
        "",
        *(f"{seconds:8.2f} s  {stage}" for stage, seconds in analysis.seconds.items()),
        "",
        *(f"{verdict.light:5} {verdict.sentence}" for verdict in found),
    ]
    if analysis.matching is not None:
        lines += ["", str(analysis.matching)]
    if analysis.health is not None:
        lines += ["", "Health check:", str(analysis.health)]
    if analysis.scaled is not None:
        lines += ["", "Scaling:", analysis.scaled.report]
    lines += ["", "Remarks:", *(f"- {remark}" for remark in analysis.remarks)]
    lines += [f"- without {part}: {reason}" for part, reason in analysis.missing.items()]
    return "\n".join(lines) + "\n"


def position_columns(model: Model) -> tuple[list[str], list[str]]:
    """Names of the entries of q and their kind: ``slide``, ``turn`` or ``quaternion``."""
    names, kinds = [], []
    turns = rotations(model)
    following = {coupler.coordinate for coupler in model.couplers}
    for joint, place in zip(model.joints, model.joint_slots, strict=True):
        own = [c.name for c in joint.coordinates if c.name not in following]
        if joint.quaternion:
            slides = own[:-3]
            names += [*slides, *(f"{joint.name}_{part}" for part in ("qw", "qx", "qy", "qz"))]
            kinds += ["slide"] * len(slides) + ["quaternion"] * 4
        else:
            names += own
            kinds += ["turn" if turns[place.v.start + k] else "slide" for k in range(len(own))]
    return names, kinds


def rotations(model: Model) -> list[bool]:
    """For each entry of v, whether it turns a body (else it slides it)."""
    neutral = model.neutral()
    turns = [False] * model.nv
    for joint, place in zip(model.joints, model.joint_slots, strict=True):
        if place.v.stop > place.v.start:
            turning = dynamics.angular_jacobian(model, neutral, joint.child)
            for k in range(place.v.start, place.v.stop):
                turns[k] = bool(np.abs(turning[:, k]).max() > 1e-9)
    return turns


def _units(kinds: Sequence[str]) -> list[str]:
    return [{"slide": "m", "turn": "rad", "quaternion": "1"}[kind] for kind in kinds]


def _head(name: str, unit: str) -> str:
    return f"{name} ({unit})" if unit else name


def _quoted(word: str) -> str:
    return f'"{word}"' if "," in word or '"' in word else word


def _rows(path: Path, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)


def _rms(values: np.ndarray) -> float | None:
    kept = values[np.isfinite(values)]
    return float(np.sqrt(np.mean(kept**2))) if kept.size else None


def _plain(value: Any) -> Any:
    """Numbers of numpy as numbers of Python, and None for what is not finite."""
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
