"""Which recordings of a data folder are validated, with which model, and against which reference.

Files are recognized by their content, so that folders need no fixed file names: tables by the names
of their columns, XML files by their elements. A table or setup file whose name begins with that of
a recording belongs to it; others belong to all recordings of their folder.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from homodyn.analysis.trial_folders import STATIC_NAME, TRIAL_SUFFIXES
from homodyn.errors import FormatError, HomodynError
from homodyn.foundation import Record, record
from homodyn.foundation.guarded_read import guarded_reader
from homodyn.foundation.text import unknown_name
from homodyn.foundation.toml import read_toml

GENERIC_NAME = re.compile(r"generic|unscaled", re.I)
"""Names of models that are not scaled to a person."""
SCALED_NAME = re.compile(r"(?<!un)scaled|subject", re.I)
"""Names of models that are scaled to a person."""
WALK_NAME = re.compile(r"walk|gait", re.I)
"""Names of trials with upright movement, which shows the zeros of hips and knees."""
MODEL_SUFFIXES = (".osim", ".lua")
TABLE_SUFFIXES = (".mot", ".sto")


@record(eq=True)
class ValidationCase(Record):
    """A recording with the files that belong to it; None where there is none."""

    recording: str
    """The file of markers."""
    model: str | None = None
    """The generic model, which is scaled to the person."""
    expert: str | None = None
    """The model that an expert scaled to the person."""
    static: str | None = None
    """A trial in which the person stands still."""
    calibrate_from: tuple[str, ...] = ()
    """Trials that calibrate the generic model once for all recordings of the person."""
    forces: str | None = None
    """A table of ground forces."""
    external_loads: str | None = None
    """ExternalLoads file of OpenSim for the forces."""
    markerset: str | None = None
    """MarkerSet file of OpenSim for the generic model."""
    tasks: str | None = None
    """Marker weights for the expert's model: IKTaskSet of OpenSim, or a setup file with one."""
    angles: str | None = None
    """Reference coordinates."""
    torques: str | None = None
    """Reference joint torques."""
    mass: float | None = None
    """Mass of the person (kg); None: that of the expert's model."""
    height: float | None = None
    """Height of the person (m)."""
    up: str | None = None
    """The vertical axis of the recording."""
    notes: tuple[str, ...] = ()
    """Files that were left out, with the reason."""

    def headline(self) -> str:
        """The recording and its models."""
        return f"ValidationCase {self.recording}: {self.model or self.expert or 'no model'}"


def find_cases(data: str | Path) -> tuple[ValidationCase, ...]:
    """The recordings in a folder and its subfolders, with the files that belong to them.

    Args:
        data: The folder.

    Returns:
        One case per .c3d or .trc file, by path. Static trials are recordings only in folders that
        have no others.

    Raises:
        FormatError: The folder does not exist, or has no recordings.
    """
    root = Path(data)
    if not root.is_dir():
        raise FormatError("there is no such folder", str(root))
    folders = sorted({f.parent for f in root.rglob("*") if f.suffix.lower() in TRIAL_SUFFIXES})
    cases = tuple(case for folder in folders for case in _cases_of_folder(folder))
    if not cases:
        raise FormatError("neither it nor its subfolders have .c3d or .trc files", str(root))
    return cases


@guarded_reader("manifest")
def read_cases(manifest: str | Path, data: str | Path) -> tuple[ValidationCase, ...]:
    """The cases that a manifest lists.

    Args:
        manifest: A TOML file with a table ``[[case]]`` per recording, whose keys are the fields of
            `ValidationCase`.
        data: The folder that the paths of the manifest start from.

    Returns:
        The cases, with paths below ``data``.

    Raises:
        FormatError: A key is unknown, a value has a wrong type, or there is no case.
    """
    document = read_toml(manifest)
    listed = document.content.get("case", [])
    if not isinstance(listed, list) or not listed:
        raise FormatError("it has no [[case]] tables, one per recording", str(manifest))
    numbers, texts, lists = ("mass", "height"), ("up",), ("calibrate_from",)
    known = [entry.name for entry in fields(ValidationCase) if entry.name != "notes"]
    cases = []
    for k, table in enumerate(listed):
        values: dict[str, str | float | tuple[str, ...]] = {}
        for key, value in table.items():
            if key not in known:
                raise document.error(unknown_name("key of a case", key, known), "case", k, key)
            if key in lists:
                if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
                    expected = "a list of texts"
                    raise document.error(f"{key} is {value!r}; expected {expected}", "case", k, key)
                values[key] = tuple(str(Path(data) / one) for one in value)
                continue
            kinds = (int, float) if key in numbers else (str,)
            if isinstance(value, bool) or not isinstance(value, kinds):
                expected = "a number" if key in numbers else "a text"
                raise document.error(f"{key} is {value!r}; expected {expected}", "case", k, key)
            plain = key in (*numbers, *texts)
            values[key] = value if plain else str(Path(data) / str(value))
        if "recording" not in values:
            raise document.error("the key recording is missing", "case", k)
        cases.append(ValidationCase(**values))  # type: ignore[arg-type]
    return tuple(cases)


def _cases_of_folder(folder: Path) -> list[ValidationCase]:
    files = sorted(file for file in folder.iterdir() if file.is_file())
    recordings = [file for file in files if file.suffix.lower() in TRIAL_SUFFIXES]
    static = [file for file in recordings if STATIC_NAME.search(file.stem)]
    moving = [file for file in recordings if file not in static] or recordings
    model, expert = _models(folder)
    walks = [str(file) for file in moving if WALK_NAME.search(file.stem)]
    kinds = _kinds(files)
    cases = []
    for recording in moving:
        notes: list[str] = []
        own = {
            kind: _belonging(recording, moving, found, kind, notes) for kind, found in kinds.items()
        }
        # The plates of a .c3d file are in the file.
        forces = None if recording.suffix.lower() == ".c3d" else own["forces"]
        cases.append(
            ValidationCase(
                str(recording),
                model=model,
                expert=expert,
                static=str(static[0]) if static and recording not in static else None,
                calibrate_from=tuple(walks) if model is not None and len(moving) > 1 else (),
                forces=forces,
                external_loads=own["external_loads"] if forces else None,
                markerset=own["markerset"],
                tasks=own["tasks"],
                angles=own["angles"],
                torques=own["torques"],
                notes=tuple(notes),
            )
        )
    return cases


def _models(folder: Path) -> tuple[str | None, str | None]:
    """The generic and the expert's model of a folder, by name and by the folder ``generic``."""
    models = [f for f in sorted(folder.iterdir()) if f.suffix.lower() in MODEL_SUFFIXES]
    beside = folder.parent / "generic"
    generic = [f for f in models if GENERIC_NAME.search(f.stem)]
    scaled = [f for f in models if SCALED_NAME.search(f.stem) and f not in generic]
    others = [f for f in models if f not in generic and f not in scaled]
    if scaled and not generic:
        generic = others
    elif not scaled:
        scaled = others
    if not generic and beside.is_dir():
        generic = [f for f in sorted(beside.iterdir()) if f.suffix.lower() in MODEL_SUFFIXES]
    return (
        str(generic[0]) if generic else None,
        str(scaled[0]) if scaled else None,
    )


def _kinds(files: Sequence[Path]) -> dict[str, list[Path]]:
    """The tables and XML files of a folder by the field of `ValidationCase` that they fill."""
    kinds: dict[str, list[Path]] = {
        name: [] for name in ("angles", "torques", "forces", "external_loads", "tasks", "markerset")
    }
    for file in files:
        kind = None
        if file.suffix.lower() in TABLE_SUFFIXES:
            kind = _table_kind(file)
        elif file.suffix.lower() == ".xml":
            kind = _xml_kind(file.read_text(encoding="utf-8", errors="replace"))
        if kind is not None:
            kinds[kind].append(file)
    return kinds


def _table_kind(file: Path) -> str | None:
    from homodyn.capture import read_table

    try:
        names = read_table(file, partial=True).names
    except HomodynError:
        return None
    shares = {
        "torques": sum(name.endswith(("_moment", "_force")) for name in names),
        "forces": sum(bool(re.search(r"_v[xyz]$|_p[xyz]$|_f[xyz]$", name)) for name in names),
        "angles": sum(
            bool(re.search(r"(knee_angle|hip_flexion|ankle_angle|pelvis_tilt)", name))
            for name in names
            if not name.endswith(("_moment", "/speed"))
        ),
    }
    kind = max(shares, key=lambda name: shares[name])
    return kind if shares[kind] >= 3 else None


def _xml_kind(text: str) -> str | None:
    if "<ScaleTool" in text or "<InverseDynamicsTool" in text:
        return None
    for tag, kind in (
        ("<IKTaskSet", "tasks"),
        ("<ExternalLoads", "external_loads"),
        ("<MarkerSet", "markerset"),
    ):
        if tag in text:
            return kind
    return None


def _belonging(
    recording: Path, recordings: Sequence[Path], found: list[Path], kind: str, notes: list[str]
) -> str | None:
    """The file that begins with the name of the recording, else the only one of no recording."""
    own = [file for file in found if file.stem.startswith(recording.stem)]
    shared = [
        file for file in found if not any(file.stem.startswith(other.stem) for other in recordings)
    ]
    candidates = own or shared
    if len(candidates) > 1:
        names = ", ".join(file.name for file in candidates)
        notes.append(f"several files may be its {kind} ({names}): none is used; name one")
        return None
    return str(candidates[0]) if candidates else None
