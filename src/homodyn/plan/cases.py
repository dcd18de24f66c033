"""Cases of motion planning: scenes with all supports, obstacles and the bodies that use them."""

from __future__ import annotations

from pathlib import Path

from homodyn.motion import Scene, load_scene

CASE_FOLDER = Path(__file__).parent / "scenes"
BUNDLED_SCENES = {"board": "complex"}
"""Cases whose scenes are those of plans of the center of mass."""

RECORDED_INSTANTS_S = {"car": (0.0, 0.72, 1.30, 1.35, 1.79, 2.42, 3.06)}
"""Changes of support (s) of recorded motions, by case (Qiu 2012, table 7.7)."""


def case_names() -> tuple[str, ...]:
    """List the cases.

    Returns:
        Names for `load_case`, sorted.
    """
    return tuple(sorted({*BUNDLED_SCENES, *(path.stem for path in CASE_FOLDER.glob("*.toml"))}))


def load_case(source: str | Path) -> Scene:
    """Load the scene of a case by name, or a scene from a file.

    Args:
        source: A name from `case_names`, the path of a ``.toml`` file, or the name of a bundled
            scene.

    Returns:
        The scene.

    Raises:
        FormatError: There is no such case or file, or the file is not valid.
    """
    name = str(source)
    if name in BUNDLED_SCENES:
        return load_scene(BUNDLED_SCENES[name])
    own = CASE_FOLDER / f"{name}.toml"
    return load_scene(own if Path(name).suffix != ".toml" and own.is_file() else source)
