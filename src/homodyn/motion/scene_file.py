"""Scene files: TOML that a person can write, checked field by field.

::

    format = "homodyn scene 1"
    name = "two steps"
    mass = 60.0                          # kg; may be left out where nothing is evaluated
    limit = 1000.0                       # N, sum of all normal forces; may be left out

    [ground]                             # the plane z = 0 when left out; kind = "none" for none
    kind = "plane"
    height = -0.1                        # m

    [[obstacle]]
    name = "crate"
    kind = "box"
    position = [1.0, 0.0, 0.2]           # m, center
    yaw_degrees = 30.0                   # or orientation: rotation matrix or quaternion w, x, y, z
    size = [0.4, 0.4, 0.4]               # m, full sizes
    friction = 0.6                       # may be left out

    [defaults]                           # for every support that does not say otherwise
    friction = 0.7
    length = 0.28                        # m
    width = 0.09                         # m

    [[support]]
    name = "left"
    kind = "sole"                        # or point, patch, grasp
    position = [0.0, 0.1, 0.0]           # m
    yaw_degrees = 90.0                   # or along and normal, directions in the world

    [[phase]]
    supports = ["left"]
    duration = 0.8                       # s; or min_duration, where a planner chooses

An obstacle is a ``box`` (size), ``sphere`` (radius), ``cylinder`` or ``capsule`` (radius, length),
``ring`` (radius, tube_radius), ``mesh`` (file, or vertices and faces; scale), ``plane`` (normal,
height) or ``height_field`` (heights, spacing, origin). A ``point`` support has position and normal,
a ``patch`` corners and normal, a ``sole`` position, length, width and offset, a ``grasp`` position,
orientation and the largest force (N) and moment (N m), one number or three, ``within`` a box or a
ball. Contacts may have limit (N), yaw_limit (N m), sides, pyramid and body. Further tables are
``plan`` (start, finish, degree, reach, corridor, start_at_rest, finish_at_rest, margin, pieces,
height_weight) and ``path`` (degree, instants, points: a clamped B-spline of the center of mass).
"""

from __future__ import annotations

from pathlib import Path

from homodyn.errors import FormatError
from homodyn.foundation.files import write_text
from homodyn.foundation.guarded_read import guarded_reader
from homodyn.foundation.text import unknown_name
from homodyn.foundation.toml import read_toml
from homodyn.foundation.toml_text import toml_text
from homodyn.motion.scene import Scene
from homodyn.motion.scene_reader import read_scene
from homodyn.motion.scene_writer import scene_content

SCENE_FOLDER = Path(__file__).parent / "scenes"


def scene_names() -> tuple[str, ...]:
    """List the scenes bundled with Homodyn.

    Returns:
        Names for `load_scene`, sorted.
    """
    return tuple(sorted(path.stem for path in SCENE_FOLDER.glob("*.toml")))


@guarded_reader("scene")
def load_scene(source: str | Path) -> Scene:
    """Read a scene from a TOML file, or load a bundled scene by name.

    Args:
        source: Path of a ``.toml`` file, or a name from `scene_names`.

    Returns:
        The scene. Mesh files are read when they are used; their paths are relative to the file.

    Raises:
        FormatError: The scene is unknown, or the file cannot be read or is invalid. The message
            lists all errors with line and field.
    """
    path = Path(source)
    if path.suffix != ".toml" and str(source) in scene_names():
        path = SCENE_FOLDER / f"{source}.toml"
    elif path.suffix != ".toml":
        raise FormatError(
            f"this is not a .toml file, and there is "
            f"{unknown_name('bundled scene', str(source), scene_names())}",
            str(source),
        )
    return read_scene(read_toml(path), path.parent)


def save_scene(scene: Scene, path: str | Path) -> None:
    """Write a scene to a TOML file, from which `load_scene` reads an equal scene.

    Args:
        scene: The scene.
        path: The ``.toml`` file; an existing file is replaced.

    Raises:
        FormatError: The path does not end in ``.toml``, or the file cannot be written.
    """
    path = Path(path)
    if path.suffix != ".toml":
        raise FormatError("a scene file ends in .toml", str(path))
    write_text(path, toml_text(scene_content(scene, path.parent)))
