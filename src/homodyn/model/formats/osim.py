"""Reader of OpenSim models, file versions 10901 (OpenSim 1.9) to 40600 (4.6).

The model keeps the axes of its file: the world of OpenSim has y up and gravity along -y. Every
joint becomes a sequence of axes that are driven by functions of its coordinates, and every
coordinate coupler constraint a coupler. Muscles, ligaments, wrap objects and mesh names are kept as
data. The ``notes`` of the model list what has no effect. What cannot be represented is refused with
its line.
"""

from __future__ import annotations

from pathlib import Path

from homodyn.model.formats.osim_capsules import read_capsules
from homodyn.model.formats.osim_document import (
    OsimDocument,
    numbers,
    read_document,
    text,
    unused_sections,
)
from homodyn.model.formats.osim_frames import read_frames
from homodyn.model.formats.osim_joints import read_joints
from homodyn.model.formats.osim_muscles import read_forces, read_wraps
from homodyn.model.formats.osim_parts import (
    read_bodies,
    read_contacts,
    read_couplers,
    read_markers,
    read_meshes,
    read_offset_frames,
)
from homodyn.model.model import Model

_DEFAULT_GRAVITY_M_S2 = (0.0, -9.80665, 0.0)


def read_osim(path: str | Path, *, as_measured: bool = True) -> Model:
    """Read the model in an OpenSim file.

    Published models contain inertias that no rigid body can have, and OpenSim accepts them. So does
    this function by default; `homodyn.model.check` reports them.

    Args:
        path: The file.
        as_measured: Accept inertias that no rigid body can have.

    Returns:
        The model, in the world axes of the file (y up).

    Raises:
        FormatError: The file is missing, malformed or too old, or has a joint or function that
            cannot be represented.
        ModelError: The file describes an invalid model.
    """
    document = read_document(path)
    model = document.model
    gravity = numbers(model, "gravity", 3, _DEFAULT_GRAVITY_M_S2)
    document.notes.append(
        f"the axes of the world are those of the file; gravity is {gravity.tolist()} m/s2"
    )
    _note_units(document)
    frames = read_frames(document)
    bodies = read_bodies(frames)
    joints = read_joints(document, frames)
    taken = {body.name for body in bodies}
    markers = read_markers(document, frames, taken)
    contacts = read_contacts(document, frames, taken)
    couplers = read_couplers(document, joints)
    wraps = read_wraps(document, frames)
    muscles, ligaments, joints = read_forces(document, frames, wraps, joints)
    meshes = read_meshes(document, frames)
    document.notes += unused_sections(document)
    return Model(
        model.attributes.get("name", "").strip() or Path(path).stem,
        bodies,
        joints,
        frames=read_offset_frames(document, frames, taken),
        markers=markers,
        contacts=contacts,
        capsules=read_capsules(frames),
        couplers=couplers,
        meshes=meshes,
        wraps=wraps,
        muscles=muscles,
        ligaments=ligaments,
        gravity=gravity,
        notes=tuple(document.notes),
        as_measured=as_measured,
    )


def _note_units(document: OsimDocument) -> None:
    length = text(document.model, "length_units", default="meters")
    if length.lower() not in ("", "meters", "meter", "m"):
        document.notes.append(
            f"lengths are read as meters, as in OpenSim; the file declares {length}"
        )
