"""Every reader of the project, the valid files it is fuzzed with, and what its results must be."""

import random
import sqlite3
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fuzz import mutators, seeds
from homodyn import capture, load, network
from homodyn.analysis.emg_envelopes import read_signals
from homodyn.capture import Table, Trial
from homodyn.capture.formats.column_map import read_column_map
from homodyn.capture.kinematics import read_scale_setup
from homodyn.capture.kinematics.opensim_tasks import read_tasks
from homodyn.capture.labeling.label_matching import read_label_map
from homodyn.control import read_trajectory
from homodyn.gait.contact_schedule import read_contact_schedule
from homodyn.gait.plug_in_gait import read_subject
from homodyn.gait.synthesis.step_library import read_stored_steps
from homodyn.model.formats.osim_contacts import read_osim_contacts
from homodyn.model.formats.pose import read_pose
from homodyn.motion import load_scene
from homodyn.motion.mesh_file import read_mesh
from homodyn.search import read_job
from homodyn.search.studies.study import Study
from homodyn.search.studies.summary import summarize
from homodyn.studio.file_opening import open_upload_content
from homodyn.studio.marker_map import map_text, read_map
from support.small_models import leg


class SilentError(Exception):
    """A reader accepted a file and returned something that the file does not contain."""


@dataclass(frozen=True)
class Target:
    """A reader, its valid files and how they are mutated."""

    name: str
    suffix: str
    read: Callable[[Path], Any]
    seeds: Callable[[], tuple[bytes, ...]]
    mutators: tuple[Callable[..., bytes], ...]
    check: Callable[[Any], None] = lambda result: None
    is_prefix: Callable[[Any, Any], bool] | None = None
    """Whether the result of a file that was only cut agrees with that of the whole file."""
    companions: Callable[[Path], None] = lambda folder: None
    """Writes files that the reader needs beside the mutated one."""
    places: tuple[str, ...] = ()
    """Names of other files that a message may give instead."""


def _require(condition: Any, sentence: str) -> None:
    if not condition:
        raise SilentError(sentence)


def check_trial(trial: Trial) -> None:
    _require(np.isfinite(trial.rate) and trial.rate > 0, f"rate {trial.rate}")
    _require(not np.isinf(trial.positions).any(), "infinite positions")
    _require(len(set(trial.markers)) == len(trial.markers), "two markers of one name")
    for plate in trial.plates:
        check_plate(plate)
    trial.summary()


def check_plate(plate: Any) -> None:
    _require(np.isfinite(plate.rate) and plate.rate > 0, f"plate rate {plate.rate}")
    for quantity in (plate.force, plate.point, plate.torque):
        _require(not np.isinf(quantity).any(), "infinite forces")


def check_table(table: Table) -> None:
    _require(np.isfinite(table.time).all(), "a time is not finite")
    _require((np.diff(table.time) >= 0).all(), "time goes back")
    _require(not np.isinf(table.values).any(), "infinite cells")
    table.summary()


def check_model(model: Any) -> None:
    for body in model.bodies:
        if model.parameters:
            break
        numbers = np.concatenate([[body.mass], body.com, np.ravel(body.inertia)]).astype(float)
        _require(np.isfinite(numbers).all(), f"inertia of {body.name} is not finite")
        _require(body.mass >= 0, f"mass of {body.name} is negative")
    _require(np.isfinite(model.neutral()).all(), "the neutral pose is not finite")
    _require(len(set(model.body_names)) == len(model.body_names), "two bodies of one name")
    model.summary()


def check_signals(signals: Any) -> None:
    _require(np.isfinite(signals.rate) and signals.rate > 0, f"rate {signals.rate}")


def check_job(job: Any) -> None:
    _require(isinstance(job.iterations, int) and not isinstance(job.iterations, bool), "iterations")
    _require(job.iterations >= 0, f"{job.iterations} iterations")
    job.text()


def check_numbers(values: Any) -> None:
    """All numbers of a record that is a list or mapping of numbers are finite."""
    items = values.values() if isinstance(values, dict) else values
    for item in items:
        if isinstance(item, dict | list | tuple):
            check_numbers(item)
        elif isinstance(item, float | np.ndarray):
            _require(np.isfinite(item).all(), f"number {item}")


def check_scene(scene: Any) -> None:
    scene.summary()


def check_phases(phases: Any) -> None:
    check_numbers([(phase.begin, phase.end) for phase in phases])


def check_map(found: Any) -> None:
    check_numbers([marker.position for marker in found.markers])
    check_numbers(found.weights)


def same_cut_trial(whole: Trial, part: Trial) -> bool:
    """A trial of a cut file has all frames of the whole one, unless a note says otherwise."""
    return _notes_cut(part) or (
        part.markers == whole.markers
        and np.array_equal(part.positions, whole.positions, equal_nan=True)
    )


def _notes_cut(part: Trial | Table) -> bool:
    return any(word in note for note in part.notes for word in ("cut", "truncated", "incomplete"))


def same_cut_table(whole: Table, part: Table) -> bool:
    return _notes_cut(part) or (
        part.names == whole.names and np.array_equal(part.values, whole.values, equal_nan=True)
    )


def same_model(whole: Any, part: Any) -> bool:
    return part.body_names == whole.body_names and part.mass == whole.mass


@cache
def _leg() -> Any:
    return leg()


def _read_network(path: Path) -> Any:
    found = network.load(path)
    # The equations of small networks are analyzed too.
    if path.stat().st_size < 1500:
        _ = found.system
    return found


def _read_study(path: Path) -> Any:
    with sqlite3.connect(":memory:"):
        study = Study.open(path)
    try:
        _ = study.job
        study.generations()
        for _ in study.all_candidates():
            pass
        return summarize(study)
    finally:
        study.close()


def _read_upload(path: Path) -> Any:
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        found = open_upload_content(path.name, path.read_bytes(), Path(folder))
        outside = [entry.name for entry in path.parent.iterdir()]
        _require(len(outside) <= 3, f"files outside the folder: {outside}")
        return found


def _read_wrenches(path: Path) -> Any:
    return capture.read_plates(path.parent / "forces.mot", setup=path)


def _write_forces(folder: Path) -> None:
    (folder / "forces.mot").write_bytes(_forces())


@cache
def _forces() -> bytes:
    return seeds.force_files(".mot")[0]


def _write_csv(folder: Path) -> None:
    (folder / "table.csv").write_text("t;a;b;c\n" + "0;1;2;3\n" * 3)


def mutate_study(data: bytes, source: random.Random, files: tuple[bytes, ...]) -> bytes:
    """Write other values into a table, or delete rows, columns or tables."""
    junk = (None, "", "x" * 3000, -1, 2**62, 1e308, b"\xff\xfe", "[" * 3000, "{}", "NaN", "\x00")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.db"
        path.write_bytes(data)
        connection = sqlite3.connect(path)
        try:
            tables = connection.execute("select name from sqlite_master where type = 'table'")
            table = source.choice(sorted(name for (name,) in tables))
            columns = connection.execute(f"pragma table_info({table})").fetchall()
            column = source.choice(columns)[1]
            kind = source.randrange(8)
            if kind == 0:
                connection.execute(f"drop table {table}")
            elif kind == 1:
                connection.execute(f"alter table {table} rename column {column} to other")
            elif kind == 2:
                connection.execute(f"delete from {table}")
            else:
                where = "" if source.random() < 0.5 else f" where rowid = {source.randint(1, 30)}"
                value = source.choice(junk)
                connection.execute(f"update or ignore {table} set {column} = ?{where}", [value])
            connection.commit()
        except (sqlite3.Error, IndexError, UnicodeError):
            pass
        finally:
            connection.close()
        return path.read_bytes()


def mutate_archive(data: bytes, source: random.Random, files: tuple[bytes, ...]) -> bytes:
    """Change one file of an archive, or its name."""
    try:
        content = seeds.unpack(data)
    except Exception:
        return mutators.flip_bits(data, source, files)
    if not content:
        return data
    name = source.choice(sorted(content))
    kind = source.randrange(6)
    if kind == 0:
        content[source.choice(("../escape", "/tmp/escape", "a/../../escape", "x" * 200))] = b"1"
    elif kind == 1:
        del content[name]
    elif kind == 2:
        content[name + source.choice(("2", "/x", ".toml", "\n"))] = content.pop(name)
    else:
        kinds = mutators.BINARY if name.endswith(".c3d") else mutators.TEXT
        content[name] = source.choice(kinds)(content[name], source, (content[name],))
    try:
        return seeds.pack(content)
    except (ValueError, UnicodeError):
        return data


STUDY = (mutate_study, mutate_study, mutate_study, *mutators.BINARY)
ARCHIVE = (mutate_archive, mutate_archive, mutate_archive, *mutators.BINARY)


def _texts(*texts: str) -> Callable[[], tuple[bytes, ...]]:
    return lambda: tuple(text.encode() for text in texts)


def _marker_map() -> tuple[bytes, ...]:
    from homodyn.studio.file_opening import standing_actor

    return (map_text(standing_actor(_leg())).encode(),)


def _stored_steps() -> tuple[bytes, ...]:
    import homodyn.gait.synthesis as synthesis

    return ((Path(synthesis.__file__).parent / "stored_steps.npz").read_bytes(),)


def _signals_seed() -> tuple[bytes, ...]:
    return seeds.force_files(".sto")


T, B, X, W, K = (
    mutators.TABLE,
    mutators.BINARY,
    mutators.XML,
    mutators.TEXT,
    mutators.TOML,
)
TARGETS = {
    target.name: target
    for target in (
        Target("c3d", ".c3d", capture.read, seeds.c3d_files, B, check_trial, same_cut_trial),
        Target(
            "trc",
            ".trc",
            capture.read,
            lambda: seeds.trial_files(".trc"),
            T,
            check_trial,
            same_cut_trial,
        ),
        Target(
            "csv",
            ".csv",
            capture.read,
            lambda: seeds.trial_files(".csv"),
            T,
            check_trial,
            same_cut_trial,
        ),
        Target(
            "mot",
            ".mot",
            capture.read_table,
            lambda: seeds.force_files(".mot"),
            T,
            check_table,
            same_cut_table,
        ),
        Target(
            "sto",
            ".sto",
            capture.read_table,
            lambda: seeds.force_files(".sto"),
            T,
            check_table,
            same_cut_table,
        ),
        Target(
            "forces",
            ".mot",
            capture.read_plates,
            lambda: seeds.force_files(".mot"),
            T,
            lambda plates: [check_plate(plate) for plate in plates] and None,
        ),
        Target("signals", ".sto", read_signals, _signals_seed, T, check_signals),
        Target(
            "osim",
            ".osim",
            load,
            lambda: seeds.model_files(".osim"),
            X,
            check_model,
            same_model,
        ),
        Target(
            "osim_contacts",
            ".osim",
            read_osim_contacts,
            lambda: seeds.model_files(".osim"),
            X,
        ),
        Target(
            "urdf", ".urdf", load, lambda: seeds.model_files(".urdf"), X, check_model, same_model
        ),
        Target("lua", ".lua", load, lambda: seeds.model_files(".lua"), K, check_model, same_model),
        Target("model_toml", ".toml", load, lambda: seeds.model_files(".toml"), K, check_model),
        Target("cdn", ".cdn", _read_network, seeds.network_files, W, places=("library",)),
        Target("job_toml", ".toml", read_job, _texts(seeds.JOB_TOML), K, check_job),
        Target("job_xml", ".xml", read_job, _texts(seeds.JOB_XML), X, check_job),
        Target("scene", ".toml", load_scene, seeds.scene_files, K, check_scene),
        Target("column_map", ".toml", read_column_map, _texts(seeds.COLUMN_MAP), K),
        Target("label_map", ".toml", read_label_map, _texts(seeds.LABEL_MAP), K),
        Target(
            "ik_tasks",
            ".xml",
            lambda path: read_tasks(path, _leg()),
            _texts(seeds.TASKS),
            X,
            lambda found: check_numbers(found),
        ),
        Target(
            "external_loads",
            ".xml",
            _read_wrenches,
            _texts(seeds.EXTERNAL_LOADS),
            X,
            companions=_write_forces,
        ),
        Target("scale_setup", ".xml", read_scale_setup, _texts(seeds.SCALE_SETUP), X),
        Target("schedule", ".csv", read_contact_schedule, _texts(seeds.SCHEDULE), T, check_phases),
        Target("subject_vsk", ".vsk", read_subject, _texts(seeds.SUBJECT), X),
        Target("marker_map", ".csv", read_map, _marker_map, T, check_map),
        Target(
            "pose",
            ".csv",
            lambda path: read_pose(_leg(), path),
            seeds.pose_files,
            T,
            lambda q: check_numbers([q]),
        ),
        Target("trajectory", ".traj3", read_trajectory, seeds.trajectory_files, T),
        Target("stl", ".stl", read_mesh, seeds.mesh_files, (*B, *W)),
        Target("obj", ".obj", read_mesh, _texts(seeds.OBJ_MESH), W),
        Target("stored_steps", ".npz", read_stored_steps, _stored_steps, B),
        Target("study", ".db", _read_study, lambda: (seeds.study_file(),), STUDY),
        Target(
            "session",
            ".zip",
            _read_upload,
            lambda: (seeds.session_file(),),
            ARCHIVE,
            places=("session",),
        ),
    )
}
