"""Reads experiments from TOML files; all errors of a file are reported at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from homodyn.foundation.text import unknown_name
from homodyn.foundation.toml import TomlDocument, read_toml
from homodyn.foundation.toml_table import TomlTable
from homodyn.track.experiments.experiment import (
    DEFAULT_RADIUS_M,
    PROPERTIES,
    QUANTITIES,
    TASKS,
    TORQUE_PREFIX,
    EffortStimulus,
    Experiment,
    ReachTarget,
    TracePath,
    TrialBlock,
)

EXPERIMENT_FORMAT = "homodyn experiment 1"
VALUE_SHAPES: dict[str, tuple[int, ...]] = {
    "size": (1,),
    "color": (3,),
    "sound": (1,),
    "place": (3,),
}
MAX_REPEAT = 10_000


def read_experiment(path: str | Path) -> Experiment:
    """Read an experiment.

    Args:
        path: A TOML file.

    Returns:
        The experiment.

    Raises:
        FormatError: The file is not valid; the message lists all errors with their lines.
    """
    return experiment_from_toml(read_toml(path))


def experiment_from_toml(document: TomlDocument) -> Experiment:
    """The experiment of a document.

    Args:
        document: The document.

    Returns:
        The experiment.

    Raises:
        FormatError: The document is not valid.
    """
    table = TomlTable(document)
    table.choice("format", (EXPERIMENT_FORMAT,))
    name, pointer = table.text("name"), table.text("pointer")
    radius = table.number("pointer_radius", 0.02, above=0.0)
    seed = table.integer("seed", 0)
    start_table = table.table("start")
    start = None
    if start_table is None:
        table.report("a table with a position is required", "start")
    else:
        start = _target(start_table, "start")
    targets = [_target(each) for each in table.tables("target")]
    paths = [_path(each) for each in table.tables("path")]
    names = {
        "reach": [each.name for each in targets if each is not None],
        "trace": [each.name for each in paths if each is not None],
    }
    for kind, found in names.items():
        if len(set(found)) != len(found):
            table.report(f"two of these have the same name: {', '.join(found)}", kind)
    blocks = [_block(each, names) for each in table.tables("block")]
    if not blocks:
        table.report("at least one [[block]] is required", "block")
    table.report_unknown_fields()
    table.raise_errors()
    assert start is not None
    return Experiment(
        name,
        pointer,
        start,
        tuple(each for each in blocks if each is not None),
        tuple(each for each in targets if each is not None),
        tuple(each for each in paths if each is not None),
        radius,
        seed,
    )


def _target(table: TomlTable, name: str | None = None) -> ReachTarget | None:
    title = table.text("name") if name is None else name
    position = table.array("position")
    radius = table.number("radius", DEFAULT_RADIUS_M, above=0.0)
    table.report_unknown_fields()
    return table.build(lambda: ReachTarget(title, position, radius))


def _path(table: TomlTable) -> TracePath | None:
    name = table.text("name")
    points = table.array("points", shape=(-1, 3), what="points of three")
    if table.valid and len(points) < 2:
        table.report("two or more points are expected", "points")
    scale = table.number("scale", 1.0, above=0.0)
    offset = table.array("offset", np.zeros(3))
    closed = table.flag("closed", False)
    table.report_unknown_fields()
    return table.build(lambda: TracePath(name, scale * points + offset, closed))


def _block(table: TomlTable, names: dict[str, list[str]]) -> TrialBlock | None:
    name = table.text("name")
    task = table.choice("task", TASKS)
    trials = table.texts("trials", names.get(task, []))
    for trial in trials:
        if table.valid and trial not in names[task]:
            kind = "target" if task == "reach" else "path"
            table.report(unknown_name(kind, trial, names[task]), "trials")
    if not trials:
        table.report("at least one target or path is required", "trials")
    repeat = table.integer("repeat", 1, minimum=1)
    if repeat > MAX_REPEAT:
        table.report(f"at most {MAX_REPEAT} repetitions are possible", "repeat")
    shuffle = table.flag("shuffle", False)
    speed_mean = table.number("speed", 0.5, above=0.0)
    speed_sd = table.number("speed_sd", 0.0, minimum=0.0)
    hold = table.number("hold", 0.0, minimum=0.0)
    limit = table.number("limit", 20.0, above=0.0)
    condition = table.text("condition", "")
    random_start = table.flag("random_start", False)
    stimuli = [_stimulus(each) for each in table.tables("stimulus")]
    table.report_unknown_fields()
    return table.build(
        lambda: TrialBlock(
            name,
            task,
            tuple(trials),
            repeat,
            shuffle,
            speed_mean,
            speed_sd,
            hold,
            limit,
            condition,
            random_start,
            tuple(each for each in stimuli if each is not None),
        )
    )


def _stimulus(table: TomlTable) -> EffortStimulus | None:
    quantity = table.text("quantity")
    if quantity not in QUANTITIES and not quantity.startswith(TORQUE_PREFIX):
        table.report(
            f"{quantity!r} is unknown; accepted: {', '.join(QUANTITIES)} and "
            f"{TORQUE_PREFIX}COORDINATE",
            "quantity",
        )
    kind = table.choice("property", PROPERTIES)
    low, high = table.number("low"), table.number("high")
    if table.valid and high <= low:
        table.report(f"low ({low:g}) must be below high ({high:g})", "high")
    shape = VALUE_SHAPES.get(kind, (1,))
    first, last = (_value(table, key, shape) for key in ("first", "last"))
    table.report_unknown_fields()
    return table.build(lambda: EffortStimulus(quantity, kind, low, high, first, last))


def _value(table: TomlTable, key: str, shape: tuple[int, ...]) -> np.ndarray:
    """One number, or three for a color or a place."""
    if shape == (1,):
        return np.array([table.number(key)])
    return table.array(key, shape=shape)
