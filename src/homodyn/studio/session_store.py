"""Sessions as folders, for saving and for autosave.

``session.json`` lists the bodies and recordings. Each has its own folder or file, which is written
once and never changed. The list is replaced atomically after all files that it names are complete,
so the folder always contains a complete state.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from homodyn import capture
from homodyn.capture import Trial
from homodyn.errors import FormatError, HomodynError
from homodyn.foundation.files import sync, sync_tree
from homodyn.foundation.guarded_read import guarded_reader
from homodyn.model import load
from homodyn.studio.catalog_recipe import CatalogRecipe
from homodyn.studio.document import COLORS, Actor, StudioDocument
from homodyn.studio.export import ExportedFile, write_result, zip_folder
from homodyn.studio.result_folders import read_result
from homodyn.studio.unsaved import document_parts

SESSION_FILE = "session.json"
ORIGINAL_LUA_FILE = "original.lua"
"""The LuaModel from which a body was read; it may contain fields that a model does not have."""


def is_session_folder(folder: Path) -> bool:
    """Whether a folder contains a session."""
    return (folder / SESSION_FILE).is_file()


class SessionWriter:
    """Writes successive documents into one folder; only new parts are written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._written: dict[tuple[int, ...], tuple[str, tuple[object, ...]]] = {}
        """File name of each part, by the identity of its records, to which references are kept."""
        self._count = 0

    def write(self, document: StudioDocument) -> list[str]:
        """Update the folder to a document.

        Returns:
            A sentence for each body or recording that could not be written.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        failures: list[str] = []
        bodies = []
        for actor in document.actors:
            parts = (actor.model, actor.motion, actor.loads, actor.events)
            name = self._write_once("body", "", parts, partial(_write_body, actor), failures)
            if name:
                bodies.append(_actor_entry(actor, name))
        recordings = []
        for trial in document.trials:
            name = self._write_once(
                "recording", ".c3d", (trial,), partial(capture.write, trial), failures
            )
            if name:
                recordings.append({"file": name, "name": trial.name, "source": trial.source})
        content = {"bodies": bodies, "recordings": recordings, "active": document.active}
        temporary = self.folder / f"{SESSION_FILE}.new"
        temporary.write_text(
            json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8"
        )
        # Parts are on the disk before the list that names them.
        sync_tree(self.folder)
        os.replace(temporary, self.folder / SESSION_FILE)
        sync(self.folder)
        self._remove_unused({entry["file"] for entry in (*bodies, *recordings)})
        return failures

    def _write_once(
        self,
        kind: str,
        suffix: str,
        parts: tuple[object, ...],
        write: Callable[[Path], None],
        failures: list[str],
    ) -> str:
        """The file name of a body or recording, which is written if it is new; empty on failure."""
        key = tuple(id(part) for part in parts)
        if key not in self._written:
            self._count += 1
            name = f"{kind}-{self._count}{suffix}"
            try:
                write(self.folder / name)
            except HomodynError as error:
                failures.append(" ".join(str(error).replace(f"{self.folder}/", "").split()))
                name = ""
            self._written[key] = (name, parts)
        return self._written[key][0]

    def _remove_unused(self, needed: set[str]) -> None:
        """Remove the files that the list no longer names."""
        for key, (name, _) in list(self._written.items()):
            if name and name not in needed:
                path = self.folder / name
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            if name not in needed:
                del self._written[key]


def session_archive(document: StudioDocument) -> ExportedFile:
    """A document as a ZIP archive, which the studio can open again."""
    if not document.actors and not document.trials:
        raise HomodynError("nothing is open to save; open a body or a recording first")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "session"
        failures = SessionWriter(folder).write(document)
        return ExportedFile(
            "session.zip", zip_folder(folder, "session"), document_parts(document), tuple(failures)
        )


@guarded_reader("session")
def read_session(folder: Path) -> StudioDocument:
    """The document in a folder that a `SessionWriter` wrote.

    Raises:
        FormatError: The folder does not contain a valid session.
    """
    path = folder / SESSION_FILE
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        document = StudioDocument()
        for entry in content["recordings"]:
            document = document.with_trial(_read_recording(folder, entry))
        for entry in content["bodies"]:
            document = document.with_actor(_read_actor(folder, entry))
        actors = tuple(
            replace(actor, color=tuple(entry["color"] if "color" in entry else entry["colour"]))
            for actor, entry in zip(document.actors, content["bodies"], strict=True)
        )
        active = int(content["active"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FormatError(f"this is not a valid session: {error!r}", str(path)) from error
    return replace(document, actors=actors, active=min(max(active, 0), max(len(actors) - 1, 0)))


def merge_documents(document: StudioDocument, other: StudioDocument) -> StudioDocument:
    """A document with the bodies and recordings of another added to it."""
    for trial in other.trials:
        document = document.with_trial(trial)
    if not document.actors:
        return replace(document, actors=other.actors, active=other.active)
    for actor in other.actors:
        document = document.with_actor(actor)
    return document


def _actor_entry(actor: Actor, file: str) -> dict[str, Any]:
    return {
        "file": file,
        "name": actor.name,
        "q": [float(x) for x in actor.q],
        "posed": actor.posed,
        "shown": actor.shown,
        "color": list(actor.color),
        "source": actor.source,
        "weights": dict(actor.weights),
        "recipe": None
        if actor.recipe is None
        else {"body": actor.recipe.body, "numbers": dict(actor.recipe.numbers)},
    }


def _write_body(actor: Actor, folder: Path) -> None:
    write_result(actor, folder)
    source = Path(actor.source)
    if source.suffix.lower() == ".lua" and source.is_file():
        shutil.copyfile(source, folder / ORIGINAL_LUA_FILE)


def _path_in_folder(folder: Path, file: object) -> Path:
    """The path of a file in the folder; names that lead elsewhere are refused."""
    path = folder / str(file)
    if path.resolve().parent != folder.resolve():
        raise FormatError(f"{file!r} is not a file of the session", str(folder / SESSION_FILE))
    return path


def _read_recording(folder: Path, entry: Mapping[str, Any]) -> Trial:
    trial = capture.read(_path_in_folder(folder, entry["file"]))
    return replace(trial, name=str(entry["name"]), source=str(entry["source"]))


def _read_actor(folder: Path, entry: Mapping[str, Any]) -> Actor:
    body = _path_in_folder(folder, entry["file"])
    if (body / "motion.csv").is_file():
        actor = read_result(body)
    else:
        model = load(body / "model.toml")
        actor = Actor(model.name, model, model.neutral())
    q = np.array(entry["q"], dtype=float)
    if q.shape != (actor.model.nq,) or not np.isfinite(q).all():
        raise FormatError(
            f"the pose of {entry['name']!r} must have {actor.model.nq} finite numbers",
            str(folder / SESSION_FILE),
        )
    recipe = entry.get("recipe")
    weights = entry.get("weights", {})
    original = body / ORIGINAL_LUA_FILE
    source = str(original) if original.is_file() else str(entry["source"])
    return replace(
        actor,
        name=str(entry["name"]),
        q=q,
        posed=bool(entry["posed"]) and actor.motion is not None,
        shown=bool(entry["shown"]),
        color=COLORS[0],
        source=source,
        weights={str(name): float(weight) for name, weight in weights.items()},
        recipe=None
        if recipe is None
        else CatalogRecipe(str(recipe["body"]), dict(recipe["numbers"])),
    )
