"""Tables and summary of the muscles of a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.analysis.muscle_analysis import MuscleAnalysis
from homodyn.analysis.result_tables import heading_with_unit, write_csv, write_rows
from homodyn.capture import Table, read_table, write_table
from homodyn.motion import Motion
from homodyn.motion.coordinate_columns import angular_coordinates
from homodyn.muscle import ActivationStatus, MuscleActivations

STATUS_COLUMN = "status"
MAX_LISTED_FRAMES = 1000
"""Frames that the summary lists by name."""
MUSCLE_FILES = {
    "muscles.csv": "activations, forces and fiber lengths of muscles, and reserves, over time",
    "activations.sto": "the activations for OpenSim",
    "muscle_forces.sto": "forces of muscles along their tendons (N) for OpenSim",
    "fiber_lengths.sto": "lengths of fibers, in optimal fiber lengths",
    "reserves.sto": "torques of reserve actuators (N m, N)",
    "muscle_torques.csv": "torque of each muscle about each coordinate (N m, N)",
    "joint_reactions.csv": "forces and moments on the child of each joint, in its axes (N, N m)",
    "joint_reactions.sto": "the same for OpenSim, named as its JointReaction analysis does",
    "muscle_status.csv": "status, residual and cost of static optimization in every frame",
    "emg_agreement.csv": "agreement of activations with EMG, one row per recorded muscle",
}
"""Files of the muscles of a result and their content."""


def write_muscles(found: MuscleAnalysis, folder: Path) -> None:
    """Write the tables of `MUSCLE_FILES`.

    Args:
        found: What muscles do.
        folder: The folder to write into.
    """
    result = found.activations
    columns = result.columns().values()
    heads = [heading_with_unit(one.name, one.unit) for one in columns]
    values = np.column_stack([one.values for one in columns])
    write_csv(folder / "muscles.csv", result.time, heads, values)
    _write_storage(folder / "activations.sto", result, result.muscles, result.activations)
    _write_storage(folder / "muscle_forces.sto", result, result.muscles, result.forces)
    if result.fiber_lengths.size:
        _write_storage(folder / "fiber_lengths.sto", result, result.muscles, result.fiber_lengths)
    _write_storage(folder / "reserves.sto", result, result.coordinates, result.reserves)
    _write_contributions(result, folder)
    _write_reactions(found, folder)
    _write_status(result, folder)
    if found.agreements:
        _write_agreements(found, folder)


def with_stored_activations(motion: Motion, folder: Path) -> Motion:
    """A motion of a result folder with the activations of the folder.

    Args:
        motion: The motion.
        folder: The folder of the result.

    Returns:
        The motion; the same one if the folder has no activations of its frames. Muscles without a
        column are NaN.
    """
    path = folder / "activations.sto"
    if not path.is_file() or not motion.model.muscles:
        return motion
    table = read_table(path)
    if len(table.time) != motion.frames:
        return motion
    values = np.full((motion.frames, len(motion.model.muscles)), np.nan)
    for k, muscle in enumerate(motion.model.muscles):
        if muscle.name in table.names:
            values[:, k] = table.column(muscle.name)
    return replace(motion, activations=values)


def muscle_summary(found: MuscleAnalysis) -> dict[str, Any]:
    """The muscles of a result as plain values.

    Args:
        found: What muscles do.

    Returns:
        Method, frames by status with the frames that are not solved, reserves, muscles, peaks of
        joint forces, and agreements with EMG.
    """
    result = found.activations
    valid = result.valid
    unsolved = np.flatnonzero(found.unsolved)
    peaks = zip(result.coordinates, result.peak_reserves, result.peak_torques, strict=True)
    fibers = {one.muscle: one for one in found.fibers}
    return {
        "method": result.method,
        "sentence": result.sentence,
        "frames": {str(status): result.count(status) for status in ActivationStatus},
        "unsolved_frames": [
            {
                "frame": int(frame),
                "time_s": float(result.time[frame]),
                "status": str(result.status[frame]),
                "largest_reserve": _largest_reserve(result, int(frame)),
            }
            for frame in unsolved[:MAX_LISTED_FRAMES]
        ],
        "residual_peak": float(result.residual[valid].max(initial=0.0)),
        "reserves": {
            name: {"peak": float(reserve), "peak_torque": float(torque)}
            for name, reserve, torque in peaks
        },
        "muscles": {
            name: {
                "peak_activation": float(result.activations[valid, k].max(initial=0.0)),
                "peak_force_n": float(result.forces[valid, k].max(initial=0.0)),
                "fiber_length": [fibers[name].shortest, fibers[name].longest]
                if name in fibers
                else None,
                "sensible_fiber_length": fibers[name].sensible if name in fibers else None,
            }
            for k, name in enumerate(result.muscles)
        },
        "joint_forces": [
            {
                "joint": peak.joint,
                "side": peak.side,
                "name": peak.name,
                "peak_bw": peak.peak,
                "time_s": peak.time,
                "published_bw": [peak.low, peak.high],
                "within": peak.within,
            }
            for peak in found.contact_peaks()
        ],
        "emg": [
            {
                "channel": one.channel,
                "side": one.side,
                "muscles": list(one.muscles),
                "grade": one.grade,
                "correlation": one.correlation,
                "best_correlation": one.best_correlation,
                "delay_s": one.delay_s,
                "timing_share": one.timing_share,
                "rms_difference": one.rms_difference,
                "frames": one.frames,
            }
            for one in found.agreements
        ],
        "notes": list(found.notes),
    }


def _largest_reserve(result: MuscleActivations, frame: int) -> dict[str, Any]:
    k = int(np.abs(result.reserves[frame]).argmax())
    return {"coordinate": result.coordinates[k], "value": float(result.reserves[frame, k])}


def _write_storage(
    path: Path, result: MuscleActivations, names: Sequence[str], values: np.ndarray
) -> None:
    write_table(Table(tuple(names), result.time, values, title=path.stem), path)


def _write_contributions(result: MuscleActivations, folder: Path) -> None:
    model = result.loads.motion.model
    angular = dict(zip(model.coordinate_names, angular_coordinates(model), strict=True))
    heads, columns = [], []
    for coordinate in result.coordinates:
        unit = "N m" if angular[coordinate] else "N"
        for muscle, torque in result.contributions(coordinate).items():
            heads.append(heading_with_unit(f"{coordinate} {muscle}", unit))
            columns.append(torque)
    write_csv(folder / "muscle_torques.csv", result.time, heads, np.column_stack(columns))


def _write_reactions(found: MuscleAnalysis, folder: Path) -> None:
    reactions = found.reactions
    model = reactions.loads.motion.model
    heads, names, columns = [], [], []
    for k, joint in enumerate(reactions.joints):
        child = model.body_names[[one.name for one in model.joints].index(joint)]
        for letter, word, unit, values in (
            ("f", "force", "N", reactions.force),
            ("m", "moment", "N m", reactions.moment),
        ):
            for axis, column in zip("xyz", values[:, k].T, strict=True):
                heads.append(heading_with_unit(f"{joint} {word} {axis}", unit))
                names.append(f"{joint}_on_{child}_in_{child}_{letter}{axis}")
                columns.append(column)
    table = np.column_stack(columns)
    write_csv(folder / "joint_reactions.csv", reactions.time, heads, table)
    write_table(
        Table(tuple(names), reactions.time, table, title="Joint Reaction Loads"),
        folder / "joint_reactions.sto",
    )


def _write_status(result: MuscleActivations, folder: Path) -> None:
    write_rows(
        folder / "muscle_status.csv",
        ["time (s)", STATUS_COLUMN, "residual (N m)", "objective", "iterations"],
        [
            [f"{time:.9g}", str(status), f"{residual:.3g}", f"{cost:.9g}", str(int(count))]
            for time, status, residual, cost, count in zip(
                result.time,
                result.status,
                result.residual,
                result.objective,
                result.iterations,
                strict=True,
            )
        ],
    )


def _write_agreements(found: MuscleAnalysis, folder: Path) -> None:
    write_rows(
        folder / "emg_agreement.csv",
        [
            "channel",
            "side",
            "muscles",
            "agreement",
            "correlation",
            "best correlation",
            "delay (s)",
            "on and off together",
            "rms difference",
            "factor of EMG",
            "frames",
        ],
        [
            [
                one.channel,
                one.side,
                " ".join(one.muscles),
                one.grade,
                f"{one.correlation:.3f}",
                f"{one.best_correlation:.3f}",
                f"{one.delay_s:.3f}",
                f"{one.timing_share:.3f}",
                f"{one.rms_difference:.4f}",
                f"{one.emg_factor:.4g}",
                str(one.frames),
            ]
            for one in found.agreements
        ],
    )
