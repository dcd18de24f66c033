"""From files to what the studio shows; a refusal is the sentence that the command line prints."""

from __future__ import annotations

import atexit
import contextlib
import io
import re
import shutil
import tarfile
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path, PurePosixPath

from homodyn import capture, catalog, network
from homodyn.analysis.pipeline import Analysis
from homodyn.balance import load_scene
from homodyn.capture import Trial
from homodyn.errors import FormatError, HomodynError
from homodyn.model import Model, load
from homodyn.simulate import place_on_ground
from homodyn.studio.balance_evaluation import BalanceScene
from homodyn.studio.catalog_recipe import CatalogRecipe
from homodyn.studio.document import Actor, StudioDocument
from homodyn.studio.marker_map import MarkerMap, is_map, read_map
from homodyn.studio.network_runs import OpenNetwork
from homodyn.studio.result_folders import is_result, read_result
from homodyn.studio.session_store import is_session_folder, merge_documents, read_session
from homodyn.studio.step_results import is_steps, read_steps
from homodyn.studio.study_progress import StudyDatabase

MODEL_SUFFIXES = (".toml", ".lua", ".urdf", ".osim", ".xml")
RECORDING_SUFFIXES = (".c3d", ".trc", ".csv")
ARCHIVE_SUFFIXES = (".zip", ".tar")
MAX_UNPACKED_BYTES = 2_000_000_000
"""Bytes that a packed folder may unfold to."""

NETWORK_SUFFIXES, STUDY_SUFFIXES = (".cdn",), (".db",)
SCENE_HEADER = re.compile(r'^\s*format\s*=\s*"homodyn scene', re.MULTILINE)
"""By this a scene of supports is told from a model in TOML."""

OpenedItem = Actor | Trial | StudioDocument | MarkerMap | OpenNetwork | StudyDatabase | BalanceScene


def open_path(path: str | Path, *, as_measured: bool | None = None) -> OpenedItem:
    """What a file or folder holds: a body, a recording, a body with its result, or a session.

    ``as_measured`` takes a model with inertias that no rigid body can have.
    """
    path = Path(path)
    if path.is_dir():
        return _open_folder(path)
    suffix = path.suffix.lower()
    if suffix in ARCHIVE_SUFFIXES:
        return open_upload_content(path.name, _read_content(path), _temporary_folder())
    if suffix in NETWORK_SUFFIXES:
        return OpenNetwork(path.stem, network.load(path))
    if suffix in STUDY_SUFFIXES:
        return StudyDatabase(path)
    if suffix == ".toml" and SCENE_HEADER.search(
        _read_content(path)[:4000].decode(errors="replace")
    ):
        return BalanceScene(path.stem, load_scene(path))
    if suffix == ".csv" and is_map(_read_content(path)[:200].decode(errors="replace")):
        return read_map(path)
    if suffix in MODEL_SUFFIXES:
        return standing_actor(load(path, as_measured=as_measured), source=str(path))
    if suffix in RECORDING_SUFFIXES:
        return capture.read(path)
    raise FormatError(
        f"the studio does not open {suffix or 'this'!r}; accepted: models "
        f"({', '.join(MODEL_SUFFIXES)}), recordings ({', '.join(RECORDING_SUFFIXES)}), "
        "networks (.cdn), studies (.db), scenes of supports (.toml), result folders and saved "
        "sessions (.zip)",
        str(path),
    )


def from_catalog(name: str) -> Actor:
    """A ready body."""
    return replace(standing_actor(catalog.build(name)), recipe=CatalogRecipe(name))


def standing_actor(model: Model, source: str = "") -> Actor:
    """A model in its neutral pose, with its lowest contact on the ground."""
    q = model.neutral()
    # Bodies that cannot be lifted, such as an arm fixed in the world, stay as they are.
    with contextlib.suppress(HomodynError):
        q = place_on_ground(model, q, 0.0)
    return Actor(model.name, model, q, source=source)


def actor_from_analysis(analysis: Analysis) -> Actor:
    """The body of an analysis, with all that was found."""
    return Actor(
        analysis.name,
        analysis.model,
        analysis.motion.q[0],
        analysis.motion,
        analysis.loads,
        analysis.events,
        source=analysis.source,
    )


def add_to_document(
    document: StudioDocument, thing: Actor | Trial | StudioDocument
) -> StudioDocument:
    """The document with one more thing open."""
    if isinstance(thing, StudioDocument):
        return merge_documents(document, thing)
    return document.with_trial(thing) if isinstance(thing, Trial) else document.with_actor(thing)


def open_upload_content(
    name: str, content: bytes, folder: Path, *, as_measured: bool | None = None
) -> OpenedItem:
    """What a file holds that came through the page; ``folder`` keeps it while it is open.

    A folder comes packed as .tar or .zip. Refusals name the file as the sender knows it.
    """
    plain = PurePosixPath(name.replace("\\", "/")).name or "file"
    try:
        home = Path(tempfile.mkdtemp(dir=folder))
        if Path(plain).suffix.lower() in ARCHIVE_SUFFIXES:
            return _open_folder(_unpack(plain, content, home))
        (home / plain).write_bytes(content)
        return open_path(home / plain, as_measured=as_measured)
    except HomodynError as error:
        raise type(error)(str(error).replace(f"{home}/", "")) from error


def _unpack(name: str, content: bytes, home: Path) -> Path:
    """The folder of a result in an archive, unpacked below ``home``."""
    try:
        if name.lower().endswith(".zip"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                if sum(info.file_size for info in archive.infolist()) > MAX_UNPACKED_BYTES:
                    raise FormatError("it unfolds to more than 2 GB", name)
                archive.extractall(home)
        else:
            with tarfile.open(fileobj=io.BytesIO(content)) as tar:
                if sum(member.size for member in tar.getmembers()) > MAX_UNPACKED_BYTES:
                    raise FormatError("it unfolds to more than 2 GB", name)
                tar.extractall(home, filter="data")
    except (tarfile.TarError, zipfile.BadZipFile, OSError) as error:
        raise FormatError(f"it cannot be unpacked: {error}", name) from error
    folders = [home, *sorted(path for path in home.rglob("*") if path.is_dir())]
    known = (path for path in folders if is_session_folder(path) or is_result(path))
    return next(known, home / Path(name).stem)


def _open_folder(folder: Path) -> OpenedItem:
    if is_session_folder(folder):
        return read_session(folder)
    return read_steps(folder) if is_steps(folder) else read_result(folder)


def _read_content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FormatError(f"it cannot be read: {error.strerror}", str(path)) from error


def _temporary_folder() -> Path:
    """A folder that lasts as long as this process: models refer to files in it."""
    folder = Path(tempfile.mkdtemp(prefix="homodyn-studio-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
