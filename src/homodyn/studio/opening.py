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
from homodyn.simulate import grounded
from homodyn.studio.document import Actor, Document
from homodyn.studio.judging import BalanceScene
from homodyn.studio.keeping import is_session, merged, read_document
from homodyn.studio.marker_map import MarkerMap, is_map, read_map
from homodyn.studio.recipe import Recipe
from homodyn.studio.results import is_result, read_result
from homodyn.studio.sheet import Sheet
from homodyn.studio.steps import is_steps, read_steps
from homodyn.studio.study import StudyFile

MODELS = (".toml", ".lua", ".urdf", ".osim", ".xml")
TRIALS = (".c3d", ".trc", ".csv")
PACKED = (".zip", ".tar")
BIGGEST = 2_000_000_000
"""Bytes that a packed folder may unfold to."""

NETWORKS, STUDIES = (".cdn",), (".db",)
SCENE = re.compile(r'^\s*format\s*=\s*"homodyn scene', re.MULTILINE)
"""By this a scene of supports is told from a model in TOML."""

Opened = Actor | Trial | Document | MarkerMap | Sheet | StudyFile | BalanceScene


def opened(path: str | Path, *, as_measured: bool | None = None) -> Opened:
    """What a file or folder holds: a body, a recording, a body with its result, or a session.

    ``as_measured`` takes a model with inertias that no rigid body can have.
    """
    path = Path(path)
    if path.is_dir():
        return _folder(path)
    suffix = path.suffix.lower()
    if suffix in PACKED:
        return uploaded(path.name, _content(path), _unpacked_here())
    if suffix in NETWORKS:
        return Sheet(path.stem, network.load(path))
    if suffix in STUDIES:
        return StudyFile(path)
    if suffix == ".toml" and SCENE.search(_content(path)[:4000].decode(errors="replace")):
        return BalanceScene(path.stem, load_scene(path))
    if suffix == ".csv" and is_map(_content(path)[:200].decode(errors="replace")):
        return read_map(path)
    if suffix in MODELS:
        return standing(load(path, as_measured=as_measured), source=str(path))
    if suffix in TRIALS:
        return capture.read(path)
    raise FormatError(
        f"the studio does not open {suffix or 'this'!r}; accepted: models "
        f"({', '.join(MODELS)}), recordings ({', '.join(TRIALS)}), networks (.cdn), studies (.db), "
        "scenes of supports (.toml), folders of results and saved sessions (.zip)",
        str(path),
    )


def from_catalog(name: str) -> Actor:
    """A ready body."""
    return replace(standing(catalog.build(name)), recipe=Recipe(name))


def standing(model: Model, source: str = "") -> Actor:
    """A model in its neutral pose, with its lowest contact on the ground."""
    q = model.neutral()
    # Bodies that cannot be lifted, such as an arm fixed in the world, stay as they are.
    with contextlib.suppress(HomodynError):
        q = grounded(model, q, 0.0)
    return Actor(model.name, model, q, source=source)


def of_analysis(analysis: Analysis) -> Actor:
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


def added(document: Document, thing: Actor | Trial | Document) -> Document:
    """The document with one more thing open."""
    if isinstance(thing, Document):
        return merged(document, thing)
    return document.with_trial(thing) if isinstance(thing, Trial) else document.with_actor(thing)


def uploaded(name: str, content: bytes, folder: Path, *, as_measured: bool | None = None) -> Opened:
    """What a file holds that came through the page; ``folder`` keeps it while it is open.

    A folder comes packed as .tar or .zip. Refusals name the file as the sender knows it.
    """
    plain = PurePosixPath(name.replace("\\", "/")).name or "file"
    try:
        home = Path(tempfile.mkdtemp(dir=folder))
        if Path(plain).suffix.lower() in PACKED:
            return _folder(_unpacked(plain, content, home))
        (home / plain).write_bytes(content)
        return opened(home / plain, as_measured=as_measured)
    except HomodynError as error:
        raise type(error)(str(error).replace(f"{home}/", "")) from error


def _unpacked(name: str, content: bytes, home: Path) -> Path:
    """The folder of a result in an archive, unpacked below ``home``."""
    try:
        if name.lower().endswith(".zip"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                if sum(info.file_size for info in archive.infolist()) > BIGGEST:
                    raise FormatError("it unfolds to more than 2 GB", name)
                archive.extractall(home)
        else:
            with tarfile.open(fileobj=io.BytesIO(content)) as tar:
                if sum(member.size for member in tar.getmembers()) > BIGGEST:
                    raise FormatError("it unfolds to more than 2 GB", name)
                tar.extractall(home, filter="data")
    except (tarfile.TarError, zipfile.BadZipFile, OSError) as error:
        raise FormatError(f"it cannot be unpacked: {error}", name) from error
    folders = [home, *sorted(path for path in home.rglob("*") if path.is_dir())]
    known = (path for path in folders if is_session(path) or is_result(path))
    return next(known, home / Path(name).stem)


def _folder(folder: Path) -> Opened:
    if is_session(folder):
        return read_document(folder)
    return read_steps(folder) if is_steps(folder) else read_result(folder)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FormatError(f"it cannot be read: {error.strerror}", str(path)) from error


def _unpacked_here() -> Path:
    """A folder that lasts as long as this process: models refer to files in it."""
    folder = Path(tempfile.mkdtemp(prefix="homodyn-studio-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
