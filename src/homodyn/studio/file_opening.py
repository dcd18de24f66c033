"""Opening of files and folders: models, recordings, results, sessions, networks, studies."""

from __future__ import annotations

import atexit
import contextlib
import io
import re
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path, PurePosixPath

from homodyn import capture, catalog, network
from homodyn.analysis.pipeline import Analysis
from homodyn.capture import Trial
from homodyn.errors import FormatError, HomodynError
from homodyn.foundation.guarded_read import guarded_read, guarded_reader
from homodyn.model import Model, load
from homodyn.motion import load_scene
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
"""Largest size (bytes) of an unpacked archive."""
MAX_ARCHIVE_FILES = 10_000
MAX_FILE_NAME_CHARACTERS = 100

NETWORK_SUFFIXES, STUDY_SUFFIXES = (".cdn",), (".db",)
SCENE_HEADER = re.compile(r'^\s*format\s*=\s*"homodyn scene', re.MULTILINE)
"""Distinguishes a scene file from a model in TOML."""

OpenedItem = Actor | Trial | StudioDocument | MarkerMap | OpenNetwork | StudyDatabase | BalanceScene


@guarded_reader("file")
def open_path(path: str | Path, *, as_measured: bool | None = None) -> OpenedItem:
    """Open a file or folder.

    Args:
        path: A model, a recording, a result folder, a session, a network, a study, a scene or a
            marker map.
        as_measured: Accept a model with inertias that no rigid body can have.

    Returns:
        The content.

    Raises:
        HomodynError: The content cannot be read.
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
        "networks (.cdn), studies (.db), scenes (.toml), result folders and saved sessions (.zip)",
        str(path),
    )


def from_catalog(name: str) -> Actor:
    """A body of the catalog, standing on the ground."""
    return replace(standing_actor(catalog.build(name)), recipe=CatalogRecipe(name))


def standing_actor(model: Model, source: str = "") -> Actor:
    """A model in its neutral pose, with its lowest contact on the ground."""
    q = model.neutral()
    # Models that cannot be raised, such as an arm fixed in the world, stay unchanged.
    with contextlib.suppress(HomodynError):
        q = place_on_ground(model, q, 0.0)
    return Actor(model.name, model, q, source=source)


def actor_from_analysis(analysis: Analysis) -> Actor:
    """The body of an analysis, with its motion, activations, loads and events."""
    motion = analysis.motion
    if analysis.muscles is not None:
        motion = analysis.muscles.with_activations(motion)
    return Actor(
        analysis.name,
        analysis.model,
        motion.q[0],
        motion,
        analysis.loads,
        analysis.events,
        source=analysis.source,
    )


def add_to_document(
    document: StudioDocument, item: Actor | Trial | StudioDocument
) -> StudioDocument:
    """The document with a body, a recording or all parts of another document added."""
    if isinstance(item, StudioDocument):
        return merge_documents(document, item)
    return document.with_trial(item) if isinstance(item, Trial) else document.with_actor(item)


def open_upload_content(
    name: str, content: bytes, folder: Path, *, as_measured: bool | None = None
) -> OpenedItem:
    """Open a file that the browser uploaded.

    Args:
        name: Name of the file, which error messages use.
        content: Its bytes; a folder is sent as a .tar or .zip archive.
        folder: Folder in which the file is stored while it is open.
        as_measured: Accept a model with inertias that no rigid body can have.
    """
    plain = plain_file_name(name)
    with guarded_read(plain):
        return _open_stored(plain, content, folder, as_measured)


def plain_file_name(name: str) -> str:
    """A name for a file in the folder of uploads, whatever name the browser sent.

    Args:
        name: Any text.

    Returns:
        The last part of the path, without special characters, with the extension.
    """
    path = PurePosixPath(name.replace("\\", "/"))
    plain = "".join(letter if letter.isprintable() else "_" for letter in path.name).lstrip(".")
    if len(plain) > MAX_FILE_NAME_CHARACTERS or len(plain.encode()) > MAX_FILE_NAME_CHARACTERS:
        suffix = path.suffix if path.suffix.isascii() and len(path.suffix) < 10 else ""
        plain = plain.encode("ascii", "replace").decode().replace("?", "_")[:50] + suffix
    return plain or "file"


def _open_stored(plain: str, content: bytes, folder: Path, as_measured: bool | None) -> OpenedItem:
    try:
        target = Path(tempfile.mkdtemp(dir=folder))
        if Path(plain).suffix.lower() in ARCHIVE_SUFFIXES:
            return _open_folder(_unpack(plain, content, target))
        (target / plain).write_bytes(content)
        return open_path(target / plain, as_measured=as_measured)
    except HomodynError as error:
        raise type(error)(str(error).replace(f"{target}/", "")) from error


def _unpack(name: str, content: bytes, target: Path) -> Path:
    """Unpack an archive into a folder; the path of the result or session in it."""
    try:
        if name.lower().endswith(".zip"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                _check_archive_size([info.file_size for info in archive.infolist()], name)
                archive.extractall(target)
        else:
            # Mode "r:" reads no compressed archive, whose size is known only after unpacking it.
            with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as tar:
                members = tar.getmembers()
                _check_archive_size([member.size for member in members], name)
                if links := [member.name for member in members if not _is_plain(member)]:
                    raise FormatError(
                        f"{links[0]!r} is neither a file nor a folder; links are not accepted", name
                    )
                tar.extractall(target, filter="data")
    except (tarfile.TarError, zipfile.BadZipFile, OSError, zlib.error) as error:
        raise FormatError(f"the archive cannot be unpacked: {error}", name) from error
    folders = [target, *sorted(path for path in target.rglob("*") if path.is_dir())]
    known = (path for path in folders if is_session_folder(path) or is_result(path))
    return next(known, target / Path(name).stem)


def _check_archive_size(sizes: list[int], name: str) -> None:
    """Refuse an archive with too many or too large files."""
    if len(sizes) > MAX_ARCHIVE_FILES:
        raise FormatError(f"the archive has more than {MAX_ARCHIVE_FILES} files", name)
    if sum(sizes) > MAX_UNPACKED_BYTES:
        raise FormatError("the unpacked files are larger than 2 GB", name)


def _is_plain(member: tarfile.TarInfo) -> bool:
    return member.isdir() or (member.isfile() and not member.issparse())


def _open_folder(folder: Path) -> OpenedItem:
    if is_session_folder(folder):
        return read_session(folder)
    return read_steps(folder) if is_steps(folder) else read_result(folder)


def _read_content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FormatError(f"the file cannot be read: {error.strerror}", str(path)) from error


def _temporary_folder() -> Path:
    """A folder that exists until the process ends, because models refer to files in it."""
    folder = Path(tempfile.mkdtemp(prefix="homodyn-studio-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
