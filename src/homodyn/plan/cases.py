"""Cases of motion planning: scenes with all supports, obstacles and the bodies that use them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from homodyn.motion import Scene, load_scene
from homodyn.plan.beam_scene import BEAM_HEIGHTS_M, beam_scene
from homodyn.plan.reversed_scene import reversed_scene

CASE_FOLDER = Path(__file__).parent / "scenes"
BUNDLED_SCENES = {"board": "complex"}
"""Cases whose scenes are those of plans of the center of mass."""
REVERSED_CASES = {"egress": "car-all"}
"""Cases that are other cases in the opposite order."""
SHORTER_CASES = {"car": ("car-all", 7)}
"""Cases that are the first phases of others: into a car until the body sits."""

CAR_INSTANTS_S = (0.0, 0.72, 1.30, 1.35, 1.79, 2.42, 3.06)
RECORDED_INSTANTS_S = {"car": CAR_INSTANTS_S, "car-all": CAR_INSTANTS_S}
"""Changes of support (s) of recorded motions, by case (Qiu 2012, table 7.7)."""


def case_names() -> tuple[str, ...]:
    """List the cases.

    Returns:
        Names for `load_case`, sorted.
    """
    files = {path.stem for path in CASE_FOLDER.glob("*.toml")}
    return tuple(
        sorted({*BUNDLED_SCENES, *REVERSED_CASES, *SHORTER_CASES, *BEAM_HEIGHTS_M, *files})
    )


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
    if name in REVERSED_CASES:
        return reversed_scene(load_case(REVERSED_CASES[name]), "car egress with environment")
    if name in SHORTER_CASES:
        whole, count = SHORTER_CASES[name]
        scene = load_case(whole)
        return replace(scene, steps=scene.steps[:count])
    if name in BEAM_HEIGHTS_M:
        return beam_scene(name)
    own = CASE_FOLDER / f"{name}.toml"
    return load_scene(own if Path(name).suffix != ".toml" and own.is_file() else source)
