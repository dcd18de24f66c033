"""Reading of recordings as the settings say: forces, columns, axes, interval, labels."""

from __future__ import annotations

import hashlib
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from homodyn import capture
from homodyn.analysis.settings import Settings, file_digest
from homodyn.capture import Trial
from homodyn.capture.formats.column_map import read_column_map
from homodyn.capture.formats.force_columns import plates_from_table
from homodyn.capture.labeling import LabelMatching
from homodyn.errors import CaptureError
from homodyn.foundation import count_of, enumerate_names
from homodyn.model import Model

MIN_MATCHED_MARKERS = 3
"""Markers that a model and a trial must share."""


def content_digest(trial: str | Path | Trial) -> str:
    """SHA-256 of a file, or of the positions and forces of a trial."""
    if not isinstance(trial, Trial):
        return file_digest(trial)
    content = hashlib.sha256(repr((trial.markers, trial.rate)).encode())
    for array in (trial.positions, *(p.force for p in trial.plates)):
        content.update(np.ascontiguousarray(array).tobytes())
    return content.hexdigest()


def load_recording(source: str, settings: Settings) -> Trial:
    """A recording from its file as it is, with the columns of the settings for .csv files."""
    if Path(source).suffix.lower() != ".csv" and source == settings.static:
        settings = replace(settings, columns=None, rate=None)
    return capture.read(
        source, up=settings.up, columns=_column_map(source, settings), partial=settings.lenient
    )


def read_recording(source: str, settings: Settings, standing: bool = False) -> Trial:
    """A recording from its file, with its forces and with Z up."""
    return prepare_recording(load_recording(source, settings), source, settings, standing)


def prepare_recording(
    trial: str | Path | Trial, source: str, settings: Settings, standing: bool = False
) -> Trial:
    """The recording with its forces and with Z up."""
    if not isinstance(trial, Trial):
        return read_recording(source, settings)
    if not trial.markers or not trial.frames:
        raise CaptureError(
            f"{source}: the file has no markers; export the labeled marker trajectories into it"
        )
    if not trial.seen.any():
        raise CaptureError(
            f"{source}: no marker is visible in any frame; reconstruct and label the trial, then "
            "export it again"
        )
    if settings.forces is not None:
        up = settings.up or "y"
        table = capture.read_table(settings.forces, partial=settings.lenient)
        plates = plates_from_table(table, settings.forces, setup=settings.external_loads, up=up)
        trial = replace(trial, plates=tuple(plates), notes=(*trial.notes, *table.notes))
    return capture.quality.correct_orientation(trial, standing=standing)


def crop_recording(trial: Trial, source: str, settings: Settings) -> Trial:
    """The frames of the analyzed interval, without ends in which the volume is empty.

    Raises:
        CaptureError: The interval has no frames.
    """
    if settings.first is not None or settings.last is not None:
        first = trial.start if settings.first is None else settings.first
        last = trial.start + trial.duration if settings.last is None else settings.last
        cropped = trial.crop(first, last)
        if cropped.frames < 2:
            raise CaptureError(
                f"{source}: no frames between {first:g} and {last:g} s; the trial lasts from "
                f"{trial.start:g} to {trial.start + trial.duration:g} s"
            )
        trial = cropped
    if trial.frames < 2:
        raise CaptureError(
            f"{source}: the recording has a single frame; speeds and torques need several"
        )
    return _crop_empty_ends(trial)


def _crop_empty_ends(trial: Trial) -> Trial:
    """The frames from the first to the last one that show at least half of the markers."""
    occupied = np.flatnonzero(capture.quality.occupied_frames(trial))
    if len(occupied) < 2 or len(occupied) == trial.frames:
        return trial
    first, last = int(occupied[0]), int(occupied[-1])
    if (first, last) == (0, trial.frames - 1):
        return trial
    step = 1.0 / trial.rate
    cropped = trial.crop(trial.start + (first - 0.25) * step, trial.start + (last + 0.25) * step)
    note = (
        f"analyzed are frames {cropped.first_frame}-{cropped.first_frame + cropped.frames - 1} "
        f"({cropped.start:.2f} to {cropped.start + cropped.duration:.2f} s): before and after, "
        "fewer than half of the markers are seen"
    )
    return replace(cropped, notes=(*cropped.notes, note))


def _column_map(source: str, settings: Settings) -> dict[str, Any] | None:
    """The column map of a .csv recording, with the rate of the settings."""
    if settings.columns is None and settings.rate is None:
        return None
    if Path(source).suffix.lower() != ".csv":
        raise CaptureError(
            f"{source}: --columns and --rate describe .csv recordings; {Path(source).suffix} files "
            "state their columns and their rate"
        )
    columns = read_column_map(settings.columns)
    rate = columns.rate if settings.rate is None else settings.rate
    return {**{entry.name: getattr(columns, entry.name) for entry in fields(columns)}, "rate": rate}


def match_markers(trial: Trial, model: Model, settings: Settings) -> LabelMatching:
    """The markers of the model among the labels of a recording.

    Raises:
        CaptureError: There are too few; the message lists similar labels.
    """
    matching = capture.match_labels(model, trial, names=settings.map)
    if len(matching.matched) < MIN_MATCHED_MARKERS:
        similar = "; ".join(
            f"{marker} may be {' or '.join(labels)}"
            for marker, labels in list(matching.suggestions.items())[:5]
            if labels
        )
        raise CaptureError(
            f"{trial.source or trial.name}: only {len(matching.matched)} of "
            f"{count_of(len(model.markers), 'marker')} of model {model.name!r} are among its "
            f"labels ({enumerate_names(trial.markers, 12)}); write a map of labels and pass it "
            f"with --map, or use a model with these markers{': ' + similar if similar else ''}"
        )
    return matching
