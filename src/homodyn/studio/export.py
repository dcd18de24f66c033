"""Exports: models, marker maps, motions, replays and VRML, as named bytes."""

from __future__ import annotations

import io
import json
import re
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from homodyn.analysis.opensim_files import write_opensim_loads, write_opensim_model
from homodyn.analysis.result_files import SUMMARY
from homodyn.analysis.result_tables import write_csv, write_loads, write_motion
from homodyn.capture import Trial
from homodyn.errors import HomodynError
from homodyn.model import save
from homodyn.model.formats import losses
from homodyn.model.world_rotation import rotate_world, y_up_rotation
from homodyn.motion import Motion
from homodyn.report.html import page_html
from homodyn.report.replay import pose_strip, replay_data, replay_html
from homodyn.report.vrml import vrml_text
from homodyn.studio.document import Actor
from homodyn.studio.marker_map import map_text
from homodyn.studio.result_folders import MEASURED_FILE
from homodyn.studio.unsaved import DocumentPart, parts_of_actor

KEEPING_SUFFIXES = (".lua", ".osim")
"""Model files whose writers keep parts of the file that the model was read from."""


@dataclass(frozen=True, eq=False)
class ExportedFile:
    """A file: its name and bytes, the document parts it contains, and what it cannot express."""

    name: str
    content: bytes
    document_parts: tuple[DocumentPart, ...] = ()
    losses: tuple[str, ...] = ()


def model_toml(actor: Actor) -> ExportedFile:
    """The model in the format of Homodyn, without any loss."""
    return _model_file(actor, ".toml")


def model_lua(actor: Actor) -> ExportedFile:
    """The model as LuaModel; other fields of the file it was read from are kept."""
    return _model_file(actor, ".lua")


def model_osim(actor: Actor) -> ExportedFile:
    """The model for OpenSim, in a world with Y up; motions as .mot files fit it."""
    turned = rotate_world(actor.model, y_up_rotation(actor.model))
    # What is kept of the source is in its own axes.
    source = actor.source if turned is actor.model else ""
    return _model_file(replace(actor, model=turned, source=source), ".osim")


def marker_map(actor: Actor) -> ExportedFile:
    """A table of the markers: segment, position on it (m), and weight."""
    if not actor.model.markers:
        raise HomodynError(f"{actor.name} has no markers to write; assign some first")
    name = f"{file_name(actor.name)}_markers.csv"
    return ExportedFile(name, map_text(actor).encode(), _parts(actor, "weights"))


def motion_table(actor: Actor) -> ExportedFile:
    """Coordinates, speeds and accelerations over time, as ``homodyn analyze`` writes them."""
    return _motion_file(actor, "motion.csv")


def motion_mot(actor: Actor) -> ExportedFile:
    """Coordinates over time for OpenSim."""
    return _motion_file(actor, "motion.mot")


def result_archive(actor: Actor) -> ExportedFile:
    """A zipped result folder: model, motion, marker errors, events, torques and forces."""
    name = file_name(actor.name)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / name
        write_result(actor, folder)
        return ExportedFile(f"{name}.zip", zip_folder(folder, name), parts_of_actor(actor))


def replay(actor: Actor, trial: Trial | None = None) -> ExportedFile:
    """A self-contained page that plays the motion in any browser."""
    motion = _require_motion(actor)
    plates = () if trial is None else trial.plates
    data = replay_data(motion, actor.loads, actor.events, plates)
    subtitle = motion.method or f"{actor.model.name} in motion"
    body = f'<section id="replay">{replay_html(data, pose_strip(motion))}</section>'
    page = page_html(actor.name, actor.name, subtitle, body)
    return ExportedFile(f"{file_name(actor.name)}.html", page.encode())


def vrml(actor: Actor) -> ExportedFile:
    """The motion as VRML97."""
    return ExportedFile(f"{file_name(actor.name)}.wrl", vrml_text(_require_motion(actor)).encode())


EXPORTS: dict[str, Callable[[Actor], ExportedFile]] = {
    "Model (.toml)": model_toml,
    "Model (LuaModel)": model_lua,
    "Model (OpenSim)": model_osim,
    "Marker map (.csv)": marker_map,
    "Motion (.csv)": motion_table,
    "Motion (.mot)": motion_mot,
    "Result folder (.zip)": result_archive,
    "Motion as VRML (.wrl)": vrml,
}
"""Exports of a body, by their labels on the page."""


def write_result(actor: Actor, folder: Path) -> None:
    """Write a result folder: the model and, where there are any, motion, events and loads."""
    folder.mkdir(parents=True)
    save(actor.model, folder / "model.toml")
    write_opensim_model(actor.model, folder)
    summary = {"trial": actor.name, "complete": True, "model": {"name": actor.model.name}}
    if actor.motion is not None:
        write_motion(actor.motion, actor.events, folder)
        _write_measured(actor.motion, folder / MEASURED_FILE)
        summary["method"] = actor.motion.method
    if actor.loads is not None:
        write_loads(actor.loads, folder)
        write_opensim_loads(actor.loads, folder)
    text = json.dumps(summary, indent=2, ensure_ascii=False)
    (folder / SUMMARY).write_text(text + "\n", encoding="utf-8")


def _write_measured(motion: Motion, path: Path) -> None:
    """Write the measured marker positions of a motion (m, world of the model)."""
    if motion.markers and motion.measured.size:
        header = [f"{name} {axis} (m)" for name in motion.markers for axis in "xyz"]
        write_csv(path, motion.time, header, motion.measured.reshape(len(motion.time), -1))


def zip_folder(folder: Path, name: str) -> bytes:
    """The bytes of a ZIP archive with the files of a folder, inside a folder of the given name."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, f"{name}/{path.relative_to(folder).as_posix()}")
    return stream.getvalue()


def file_name(name: str) -> str:
    """A name that is valid for a file."""
    return re.sub(r"[^\w.-]+", "_", name).strip("_.") or "body"


def _model_file(actor: Actor, suffix: str) -> ExportedFile:
    source = Path(actor.source)
    kept = suffix == source.suffix.lower() and suffix in KEEPING_SUFFIXES
    like = source if kept and source.is_file() else None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{file_name(actor.name)}{suffix}"
        try:
            save(actor.model, path, like=like)
        except HomodynError as error:
            raise type(error)(str(error).replace(f"{folder}/", "")) from error
        content = path.read_bytes()
    lost = tuple(losses(actor.model, suffix))
    return ExportedFile(path.name, content, _parts(actor, "model"), lost)


def _motion_file(actor: Actor, file: str) -> ExportedFile:
    motion = _require_motion(actor)
    with tempfile.TemporaryDirectory() as temporary:
        write_motion(motion, actor.events, Path(temporary))
        content = (Path(temporary) / file).read_bytes()
    return ExportedFile(f"{file_name(actor.name)}_{file}", content, _parts(actor, "motion"))


def _parts(actor: Actor, kind: str) -> tuple[DocumentPart, ...]:
    """The parts of a body of one kind."""
    return tuple(part for part in parts_of_actor(actor) if part.kind == kind)


def _require_motion(actor: Actor) -> Motion:
    if actor.motion is None:
        raise HomodynError(
            f"{actor.name} has no motion to save; fit it to a recording or simulate it first"
        )
    return actor.motion
