"""Files of design studies: TOML, and the bundled one."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from homodyn import catalog
from homodyn.codesign.design_space import DesignBounds
from homodyn.codesign.design_study import (
    ITERATIONS,
    POPULATION,
    DesignStudy,
    default_optimizer,
)
from homodyn.codesign.drive import DriveBounds
from homodyn.codesign.link_inertia import Construction
from homodyn.codesign.passive_element import PassiveElement
from homodyn.codesign.topology import topologies
from homodyn.codesign.walking import WalkingTask
from homodyn.errors import HomodynError
from homodyn.foundation.text import unknown_name
from homodyn.foundation.toml import TomlDocument, parse_toml, read_toml
from homodyn.model import Model, load
from homodyn.search.validated_model import ValidatedModel
from homodyn.simulate import ImplicitSprings, SoftContact
from homodyn.simulate.laws import ContactLaw

BUNDLED_DESIGN_STUDIES = {
    "wearable": "robots with four links on a leg, least power (chapter 5)",
}
"""Names and contents of the design studies in the package, after van den Kieboom (2014)."""


class _ContactSection(ValidatedModel):
    kind: Literal["soft", "implicit"] = "soft"
    stiffness: float = Field(default=3e4, gt=0)
    damping: float = Field(default=60.0, ge=0)
    friction: float = Field(default=0.8, ge=0)


class _BoundsSection(ValidatedModel):
    share: tuple[float, float] = (0.0, 1.0)
    forward: tuple[float, float] = (-0.15, 0.15)
    height: tuple[float, float] = (0.1, 1.3)
    rotation: float = Field(default=3.141592653589793, gt=0)
    first_rotation: float = Field(default=0.6, gt=0)
    stiffness: float = Field(default=12000.0, gt=0.5)
    damping: float = Field(default=60.0, gt=0.5)
    points: int = Field(default=5, ge=2)


class _ConstructionSection(ValidatedModel):
    bar_density: float = Field(default=0.7, gt=0)
    actuator_mass: float = Field(default=2.0, gt=0)
    pin_mass: float = Field(default=0.5, gt=0)
    joint_radius: float = Field(default=0.05, gt=0)


class _DesignStudyFile(ValidatedModel):
    """Keys of a design study file."""

    name: str
    model: str = "winter_human"
    speed: float = Field(default=1.3, gt=0)
    frequency: float = Field(default=0.9, gt=0)
    duration: float = Field(default=10.0, gt=0)
    step: float = Field(default=2e-3, gt=0)
    topologies: tuple[int, ...] = tuple(range(1, 11))
    passive: Literal["pin", "spring", "clutch"] = "spring"
    objective: Literal["power", "torque", "cuff_force"] = "power"
    population: int = Field(default=POPULATION, ge=2)
    iterations: int = Field(default=ITERATIONS, ge=1)
    contact: _ContactSection = Field(default_factory=_ContactSection)
    bounds: _BoundsSection = Field(default_factory=_BoundsSection)
    construction: _ConstructionSection = Field(default_factory=_ConstructionSection)
    notes: tuple[str, ...] = ()


def load_design_study(source: str | Path, **changes: Any) -> DesignStudy:
    """A design study from a file, or the bundled one by its name.

    Args:
        source: Path of a TOML file, or a key of `BUNDLED_DESIGN_STUDIES`.
        **changes: Keys of the file to change, such as ``passive="clutch"``.

    Returns:
        The study.

    Raises:
        HomodynError: There is no such file or study, or it is wrong; the message says where.
    """
    document = _read(source)
    try:
        found = _DesignStudyFile.model_validate({**document.content, **changes})
    except ValidationError as error:
        # A misspelled key explains why another one is missing.
        first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
        place = tuple(first["loc"])
        line = document.line(*place) if place else 1
        where = ".".join(map(str, place))
        raise HomodynError(f"{source}, line {line}: {where}: {first['msg']}") from None
    known = {one.number: one for one in topologies()}
    unknown = [number for number in found.topologies if number not in known]
    if unknown or not found.topologies:
        line = document.line("topologies") if "topologies" in document.content else 1
        raise HomodynError(
            f"{source}, line {line}: topologies are numbers from 1 to {len(known)}, got "
            f"{list(found.topologies)}"
        )
    bounds = found.bounds
    gains = {"max_stiffness": bounds.stiffness, "max_damping": bounds.damping}
    return DesignStudy(
        found.name,
        _model(found.model, document),
        tuple(known[number] for number in found.topologies),
        WalkingTask(
            found.speed, found.frequency, found.duration, found.step, _contact_law(found.contact)
        ),
        DesignBounds(
            bounds.share,
            bounds.forward,
            bounds.height,
            DriveBounds(
                -bounds.rotation, bounds.rotation, bounds.first_rotation, bounds.points, **gains
            ),
            DriveBounds(-0.6, 0.6, 0.3, bounds.points, **gains),
        ),
        PassiveElement(found.passive),
        Construction(**found.construction.model_dump()),
        found.objective,
        default_optimizer(found.population),
        found.iterations,
        found.notes,
    )


def _read(source: str | Path) -> TomlDocument:
    if str(source) in BUNDLED_DESIGN_STUDIES and not Path(source).exists():
        bundled = files("homodyn.codesign").joinpath("bundled", f"{source}.toml")
        return parse_toml(bundled.read_text(encoding="utf-8"), f"{source}.toml")
    if not Path(source).exists() and Path(source).suffix != ".toml":
        message = unknown_name("design study", str(source), BUNDLED_DESIGN_STUDIES)
        raise HomodynError(f"{message}, or a TOML file")
    return read_toml(Path(source))


def _model(name: str, document: TomlDocument) -> Model:
    """A model of the catalog, or of a file beside the study."""
    if name in [entry.name for entry in catalog.entries()]:
        return catalog.build(name)
    return load(Path(document.path).parent / name)


def _contact_law(section: _ContactSection) -> ContactLaw:
    constants = (section.stiffness, section.damping, section.friction)
    return SoftContact(*constants) if section.kind == "soft" else ImplicitSprings(*constants)
