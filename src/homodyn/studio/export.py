"""Files of what is open: models, marker maps, motions, replays and VRML, as bytes with a name."""

from __future__ import annotations

import io
import json
import re
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path

from homodyn.analysis.result_files import SUMMARY
from homodyn.analysis.result_tables import write_csv, write_loads, write_motion
from homodyn.capture import Trial
from homodyn.errors import HomodynError
from homodyn.model import save
from homodyn.model.formats.convert import losses
from homodyn.motion import Motion
from homodyn.report.replay import asset, pose_strip, replay_data, replay_html
from homodyn.report.vrml import vrml_text
from homodyn.studio.document import Actor
from homodyn.studio.marker_map import map_text
from homodyn.studio.result_folders import MEASURED_FILE
from homodyn.studio.unsaved import DocumentPart, parts_of_actor


@dataclass(frozen=True, eq=False)
class ExportedFile:
    """A file: its name, its bytes, the pieces that are in it now, and what it had no place for."""

    name: str
    content: bytes
    document_parts: tuple[DocumentPart, ...] = ()
    lost: tuple[str, ...] = ()


def model_toml(actor: Actor) -> ExportedFile:
    """The model in Homodyn's own format, which loses no bit."""
    return _model(actor, ".toml")


def model_lua(actor: Actor) -> ExportedFile:
    """The model as LuaModel; fields of the file it came from that are not the model's are kept."""
    return _model(actor, ".lua")


def marker_map(actor: Actor) -> ExportedFile:
    """A table of the markers: the segment each is on, where on it (m), and its weight."""
    if not actor.model.markers:
        raise HomodynError(f"{actor.name} has no markers to be written; assign some first")
    kept = tuple(piece for piece in parts_of_actor(actor) if piece.kind == "weights")
    return ExportedFile(f"{file_name(actor.name)}_markers.csv", map_text(actor).encode(), kept)


def motion_table(actor: Actor) -> ExportedFile:
    """Coordinates, speeds and accelerations over time, as ``homodyn analyze`` writes them."""
    return _read_motion(actor, "motion.csv")


def motion_mot(actor: Actor) -> ExportedFile:
    """Coordinates over time for OpenSim."""
    return _read_motion(actor, "motion.mot")


def result(actor: Actor) -> ExportedFile:
    """Model, motion, errors of markers, events, torques and forces: a folder, packed."""
    name = file_name(actor.name)
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / name
        write_result(actor, folder)
        return ExportedFile(f"{name}.zip", zip_folder(folder, name), parts_of_actor(actor))


def replay(actor: Actor, trial: Trial | None = None) -> ExportedFile:
    """One page that plays the motion in any browser and needs nothing but itself."""
    _moving(actor)
    assert actor.motion is not None
    plates = () if trial is None else trial.plates
    data = replay_data(actor.motion, actor.loads, actor.events, plates)
    title = escape(actor.name)
    told = escape(actor.motion.method or f"{actor.model.name} in motion")
    page = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{asset('page.css')}</style></head><body>"
        f'<header><h1>{title}</h1><p class="sub">{told}</p></header><main>'
        f'<section id="replay">{replay_html(data, pose_strip(actor.motion))}</section></main>'
        "</body></html>\n"
    )
    return ExportedFile(f"{file_name(actor.name)}.html", page.encode())


def vrml_film(actor: Actor) -> ExportedFile:
    """The motion for programs that show VRML."""
    _moving(actor)
    assert actor.motion is not None
    return ExportedFile(f"{file_name(actor.name)}.wrl", vrml_text(actor.motion).encode())


FILES: dict[str, Callable[[Actor], ExportedFile]] = {
    "Model (.toml)": model_toml,
    "Model (LuaModel)": model_lua,
    "Marker map (.csv)": marker_map,
    "Motion (.csv)": motion_table,
    "Motion (.mot)": motion_mot,
    "Result folder (.zip)": result,
    "VRML of the motion (.wrl)": vrml_film,
}
"""What can be saved of a body alone, by the words of the page."""


def write_result(actor: Actor, folder: Path) -> None:
    """A folder that opens again: the model and, where there is one, the motion with its forces."""
    folder.mkdir(parents=True)
    save(actor.model, folder / "model.toml")
    summary = {"trial": actor.name, "complete": True, "model": {"name": actor.model.name}}
    if actor.motion is not None:
        write_motion(actor.motion, actor.events, folder)
        _read_measured(actor.motion, folder / MEASURED_FILE)
        summary["method"] = actor.motion.method
    if actor.loads is not None:
        write_loads(actor.loads, folder)
    text = json.dumps(summary, indent=2, ensure_ascii=False)
    (folder / SUMMARY).write_text(text + "\n", encoding="utf-8")


def _read_measured(motion: Motion, path: Path) -> None:
    """Where the markers of a motion were measured (m, world of the model)."""
    if motion.markers and motion.measured.size:
        heads = [f"{name} {axis} (m)" for name in motion.markers for axis in "xyz"]
        write_csv(path, motion.time, heads, motion.measured.reshape(len(motion.time), -1))


def zip_folder(folder: Path, name: str) -> bytes:
    """The files below a folder in an archive, under a folder of that name."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, f"{name}/{path.relative_to(folder).as_posix()}")
    return stream.getvalue()


def file_name(name: str) -> str:
    """A name as a file can have it."""
    return re.sub(r"[^\w.-]+", "_", name).strip("_.") or "body"


def _model(actor: Actor, suffix: str) -> ExportedFile:
    source = Path(actor.source)
    like = source if suffix == source.suffix.lower() == ".lua" and source.is_file() else None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{file_name(actor.name)}{suffix}"
        try:
            save(actor.model, path, like=like)
        except HomodynError as error:
            raise type(error)(str(error).replace(f"{folder}/", "")) from error
        content = path.read_bytes()
    kept = tuple(piece for piece in parts_of_actor(actor) if piece.kind == "model")
    return ExportedFile(path.name, content, kept, tuple(losses(actor.model, suffix)))


def _read_motion(actor: Actor, file: str) -> ExportedFile:
    _moving(actor)
    assert actor.motion is not None
    with tempfile.TemporaryDirectory() as home:
        write_motion(actor.motion, actor.events, Path(home))
        content = (Path(home) / file).read_bytes()
    kept = tuple(piece for piece in parts_of_actor(actor) if piece.kind == "motion")
    return ExportedFile(f"{file_name(actor.name)}_{file}", content, kept)


def _moving(actor: Actor) -> None:
    if actor.motion is None:
        raise HomodynError(
            f"{actor.name} has no motion to be saved; fit it to a recording or simulate it first"
        )
