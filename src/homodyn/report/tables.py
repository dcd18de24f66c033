"""Tables of a report: gait measures, events, joint work, scaling, and findings on the markers."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from homodyn.analysis.load_validity import joint_work, valid_torques
from homodyn.analysis.pipeline import Analysis
from homodyn.foundation import count_of
from homodyn.gait import GaitMeasure
from homodyn.motion.clinical import readings
from homodyn.report.html import Cell, details, number, table

SEVERITIES = {"error": "problem", "warning": "check", "info": "note"}

MIN_SHOWN_MASS_KG = 0.005
"""Bodies below this mass are not listed in the table of scale factors."""
DECIMALS = {"s": 3, "m": 3, "m/s": 2, "%": 1, "steps/min": 1, "body weights": 2}
"""Decimals of a measure, by its unit."""


def highlights(analysis: Analysis) -> Iterable[tuple[str, str, str]]:
    """Key figures of an analysis: value, unit and label."""
    gait = analysis.gait
    if gait is not None:
        for name in ("velocity", "cadence"):
            if name in gait:
                measure = gait[name]
                yield number(measure.mean), measure.unit, f"{name}, mean"
        for name in ("stride length", "stance share"):
            found = [gait[name, side] for side in ("right", "left") if (name, side) in gait]
            if found:
                both = " / ".join(number(measure.mean) for measure in found)
                sides = " / ".join(measure.side for measure in found)
                yield both, found[0].unit, f"{name}, {sides}"
    yield f"{1000 * analysis.motion.rms:.1f}", "mm", "marker error (rms)"
    loads = analysis.loads
    if loads is not None:
        for joint in ("Knee", "Ankle"):
            text = _peak(analysis, joint)
            if text:
                yield text, "N m/kg", f"peak {joint.lower()} torque, right / left"


def gait_table(analysis: Analysis) -> str:
    """Gait measures with mean and standard deviation of each side."""
    gait = analysis.gait
    if gait is None or not gait.rows:
        return ""
    names = list(dict.fromkeys(row.name for row in gait.rows if row.side != "both"))
    rows = []
    for name in names:
        sides = {row.side: row for row in gait.rows if row.name == name}
        unit = next(iter(sides.values())).unit
        rows.append(
            [
                name,
                unit,
                *(_mean_sd_count(sides.get("right"))),
                *(_mean_sd_count(sides.get("left"))),
            ]
        )
    sided = table(
        [
            ("measure", ""),
            ("unit", ""),
            ("right", "n right"),
            ("sd", "n"),
            ("cycles", "n"),
            ("left", "n left"),
            ("sd", "n"),
            ("cycles", "n"),
        ],
        rows,
        "Mean and standard deviation over the cycles of each side",
    )
    both = [[row.name, row.unit, *_mean_sd_count(row)] for row in gait.rows if row.side == "both"]
    whole = (
        table(
            [("measure", ""), ("unit", ""), ("mean", "n"), ("sd", "n"), ("values", "n")],
            both,
            "Measures of the whole walk; symmetry index = 100 (right − left) / mean of both",
        )
        if both
        else ""
    )
    absent: dict[str, list[str]] = {}
    for measure in gait.missing:
        absent.setdefault(measure.reason, []).append(f"{measure.name} ({measure.side})")
    missing = table(
        [("not measured", ""), ("reason", "")],
        [[", ".join(names), reason] for reason, names in absent.items()],
    )
    return sided + whole + (details("Measures that are missing", missing) if absent else "")


def events_table(analysis: Analysis) -> str:
    """Events in chronological order."""
    return table(
        [("time (s)", "n"), ("side", ""), ("event", ""), ("method", "")],
        [
            [f"{event.time:.3f}", event.context.lower(), event.label, event.description]
            for event in sorted(analysis.events, key=lambda event: event.time)
        ],
    )


def work_table(analysis: Analysis) -> str:
    """Work of each joint: positive, negative, net and absolute (J/kg)."""
    if analysis.loads is None:
        return ""
    mass = analysis.model.mass
    rows: list[list[Cell]] = []
    found = joint_work(analysis.loads, analysis.cycles)
    for row in found:
        if max(row.positive, -row.negative) / mass > 5e-4:
            sums = (row.positive, row.negative, row.net, row.positive - row.negative)
            count = str(row.strides) if row.strides else "–"
            rows.append([row.joint, row.side, count, *(_with_sign(value / mass) for value in sums)])
    if not rows:
        return ""
    extent = "per stride, averaged over the strides with known loads"
    if not analysis.cycles.has_cycles:
        extent = "over the whole trial"
    return table(
        [
            ("joint", ""),
            ("side", ""),
            ("strides", "n"),
            ("positive (J/kg)", "n"),
            ("negative (J/kg)", "n"),
            ("net (J/kg)", "n"),
            ("absolute (J/kg)", "n"),
        ],
        rows,
        f"Mechanical work of the joints {extent}, summed over the coordinates of each joint",
    )


def findings_table(analysis: Analysis) -> str:
    """Every finding of the health check, the most serious first."""
    health = analysis.health
    if health is None or not health.findings:
        return ""
    order = list(SEVERITIES)
    found = sorted(
        health.findings,
        key=lambda f: order.index(str(f.severity)) if str(f.severity) in order else len(order),
    )
    shown = [[SEVERITIES.get(str(f.severity), str(f.severity)), f.subject, f.text] for f in found]
    columns = [("", ""), ("kind", ""), ("finding", "")]
    if len(shown) <= 12:
        return table(columns, shown)
    rest = table(columns, shown[12:])
    return table(columns, shown[:12]) + details(count_of(len(shown) - 12, "more finding"), rest)


def scales_table(analysis: Analysis) -> str:
    """Scale factors and mass of each body; bodies without mass are named in the caption."""
    scaled = analysis.scaling
    if scaled is None:
        return ""
    rows = []
    massless = [row.body for row in scaled.bodies if row.mass < MIN_SHOWN_MASS_KG]
    for row in scaled.bodies:
        if row.body in massless:
            continue
        cells = [
            f"{100 * (factor - 1):+.1f} %".replace("-", "−") + ("" if known else " *")
            for factor, known in zip(row.scale, row.measured, strict=True)
        ]
        rows.append([row.body, *cells, f"{row.mass_before:.2f}", f"{row.mass:.2f}", row.source])
    return table(
        [
            ("body", ""),
            ("x", "n"),
            ("y", "n"),
            ("z", "n"),
            ("mass before (kg)", "n"),
            ("after (kg)", "n"),
            ("determined by", ""),
        ],
        rows,
        "Change of size along the axes of each body (x forward, y left, z up in most bodies of the "
        "catalog); * not determined by markers."
        + (f" Bodies without mass are not listed: {', '.join(massless)}." if massless else ""),
    )


def joints_table(analysis: Analysis) -> str:
    """Shift of each joint center in its parent."""
    scaled = analysis.scaling
    if scaled is None or not scaled.joints:
        return ""
    rows = [
        [row.joint, row.parent, f"{1000 * row.shift:.1f}", _millimeters(row.sd)]
        for row in scaled.joints
    ]
    return table([("joint", ""), ("in body", ""), ("shift (mm)", "n"), ("sd (mm)", "n")], rows)


def markers_table(analysis: Analysis) -> str:
    """Shift of each marker on its body, and its error before and after."""
    scaled = analysis.scaling
    if scaled is None:
        return ""
    rows = [
        [
            row.marker,
            row.body,
            f"{1000 * row.distance:.1f}",
            _millimeters(row.sd),
            _millimeters(row.rms_before),
            _millimeters(row.rms_after),
        ]
        for row in scaled.marker_shifts
    ]
    return table(
        [
            ("marker", ""),
            ("on", ""),
            ("shift (mm)", "n"),
            ("sd (mm)", "n"),
            ("error before (mm)", "n"),
            ("after (mm)", "n"),
        ],
        rows,
    )


def _mean_sd_count(measure: GaitMeasure | None) -> list[Cell]:
    if measure is None:
        return ["–", "", ""]
    places = DECIMALS.get(measure.unit, 3)
    sd = "–" if measure.sd is None else f"{measure.sd:.{places}f}"
    mean = f"{measure.mean:.{places}f}".replace("-", "−")
    return [mean, sd, str(len(measure.values))]


def _with_sign(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def _millimeters(value: float) -> str:
    return "–" if not np.isfinite(value) else f"{1000 * value:.1f}"


def _peak(analysis: Analysis, joint: str) -> str:
    """Peak torque in the sagittal plane of each side (N m/kg)."""
    assert analysis.loads is not None
    torques = valid_torques(analysis.loads, analysis.cycles)
    found = []
    for side in ("right", "left"):
        columns = [
            r.index
            for r in readings(analysis.model)
            if r.joint == joint and r.side == side and r.plane == "sagittal"
        ]
        if columns and np.isfinite(torques[:, columns]).any():
            peak = float(np.nanmax(np.abs(torques[:, columns]))) / analysis.model.mass
            found.append(f"{peak:.2f}")
    return " / ".join(found)
