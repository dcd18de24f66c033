"""Files of gait studies: TOML, bundled ones by name."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from homodyn import catalog
from homodyn.errors import HomodynError
from homodyn.foundation.text import unknown_name
from homodyn.foundation.toml import TomlDocument, parse_toml, read_toml
from homodyn.gait.studies.assistance import PitchAssistance
from homodyn.gait.studies.gait_controller import GaitController, LegJoints, leg_joints
from homodyn.gait.studies.gait_objective import GRAVITY_M_S2
from homodyn.gait.studies.gait_study import GaitStudy, InitialPose
from homodyn.gait.studies.objectives import gait_objective
from homodyn.gait.studies.pushes import SwingPushes
from homodyn.model import Model, load
from homodyn.model.side import Side, side_of
from homodyn.search import CMAES, GA, PSO, Objective, OptimizerSettings
from homodyn.search.validated_model import ValidatedModel
from homodyn.simulate import ImplicitSprings, SoftContact
from homodyn.simulate.laws import ContactLaw

BUNDLED_STUDIES = {
    "human": "planar human, impedance control with the least torque (section 4.1)",
    "coman": "CoMan, impedance control with the least cost of transport (section 4.2.3)",
    "coman-pushes": "CoMan with pushes on the swing foot (section 4.2.4)",
    "human-normative": "planar human close to normative angles, with comfortable ground forces",
}
"""Names and contents of the studies of the package; sections: van den Kieboom (2014)."""


class _ContactSection(ValidatedModel):
    kind: Literal["soft", "implicit"] = "soft"
    stiffness: float | dict[str, float] = 3e4
    damping: float | dict[str, float] = 60.0
    friction: float = Field(default=0.8, ge=0)


class _ObjectiveSection(ValidatedModel):
    name: str
    until: str | None = None
    formula: str | None = None
    maximize: bool = False


class _OptimizerSection(ValidatedModel):
    kind: Literal["pso", "cma", "ga"] = "pso"
    step: float = Field(default=0.1, gt=0, le=1)


class _PushSection(ValidatedModel):
    right: str
    left: str
    force: tuple[float, float] = (80.0, 5.0)
    lasts: tuple[float, float] = (0.15, 0.05)
    latest_onset: float = 0.5


class _AssistanceSection(ValidatedModel):
    coordinate: str = "root_ry"
    stiffness: float = Field(default=3000.0, ge=0)
    damping: float = Field(default=20.0, ge=0)
    neutral_zone: float = Field(default=0.0872664626, ge=0)


class _StudyFile(ValidatedModel):
    """Keys of a study file."""

    name: str
    model: str
    speed: float = Field(gt=0)
    objective: tuple[_ObjectiveSection, ...] = Field(min_length=1)
    modulation: Literal["constant", "step", "ppoly"] = "constant"
    driver: Literal["clock", "oscillators"] = "clock"
    points: int = Field(default=4, ge=2)
    frequency: float | tuple[float, float] = 0.9
    stiffness: float = Field(default=12000.0, gt=0)
    damping: float = Field(default=60.0, gt=0)
    duration: float = Field(default=10.0, gt=0)
    step: float = Field(default=1e-3, gt=0)
    repeats: int = Field(default=1, ge=1)
    population: int = Field(default=120, ge=2)
    iterations: int = Field(default=500, ge=1)
    joints: dict[str, tuple[float, float]] = Field(default_factory=dict)
    contact: _ContactSection = Field(default_factory=_ContactSection)
    assistance: _AssistanceSection | Literal[False] = Field(default_factory=_AssistanceSection)
    pushes: _PushSection | None = None
    notes: tuple[str, ...] = ()
    initial_pose: InitialPose = "standing"
    optimizer: _OptimizerSection = Field(default_factory=_OptimizerSection)
    start: dict[str, float] = Field(default_factory=dict)


def load_study(source: str | Path, **changes: Any) -> GaitStudy:
    """A study from a file, or a bundled one by its name.

    Args:
        source: Path of a TOML file, or a key of `BUNDLED_STUDIES`.
        **changes: Keys of the file to change, such as ``modulation="step"``.

    Returns:
        The study.

    Raises:
        HomodynError: There is no such file or study, or it is wrong; the message says where.
    """
    document = _read(source)
    try:
        found = _StudyFile.model_validate({**document.content, **changes})
    except ValidationError as error:
        # A misspelled key explains why another one is missing.
        first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
        place = tuple(first["loc"])
        line = document.line(*place) if place else 1
        where = ".".join(map(str, place))
        raise HomodynError(f"{source}, line {line}: {where}: {first['msg']}") from None
    model = _model(found.model, document)
    bounds = LegJoints(tuple(found.joints) or ("hip", "knee", "ankle"), found.joints)
    controller = GaitController(
        leg_joints(model, bounds),
        found.modulation,
        found.points,
        found.frequency,
        found.stiffness,
        found.damping,
        found.driver,
        foot_bodies(model) if found.driver == "oscillators" else {},
        float(model.nominal_value(model.mass)) * GRAVITY_M_S2,
    )
    assistance = found.assistance
    known = {one.name for one in controller.parameters}
    return GaitStudy(
        f"{found.name}-{found.modulation}",
        model,
        controller,
        tuple(
            Objective(one.name, maximize=_maximizes(one), until=one.until)
            for one in found.objective
        ),
        speed=found.speed,
        duration=found.duration,
        dt=found.step,
        contact=_contact_law(found.contact),
        assistance=None if not assistance else PitchAssistance(**assistance.model_dump()),
        pushes=None if found.pushes is None else SwingPushes(**found.pushes.model_dump()),
        repeats=found.repeats,
        optimizer=_optimizer(found),
        iterations=found.iterations,
        notes=found.notes,
        formulas={one.name: one.formula for one in found.objective if one.formula is not None},
        initial_pose=found.initial_pose,
        initial_values={name: x for name, x in found.start.items() if name in known},
    )


def _maximizes(section: _ObjectiveSection) -> bool:
    """Whether an objective is maximized: as it is known, or as the file says of a formula."""
    return gait_objective(section.name).maximize if section.formula is None else section.maximize


def _optimizer(found: _StudyFile) -> OptimizerSettings:
    if found.optimizer.kind == "cma":
        return CMAES(found.population, step=found.optimizer.step)
    if found.optimizer.kind == "ga":
        return GA(found.population)
    return PSO.with_constriction(found.population)


def foot_bodies(model: Model) -> dict[Side, tuple[str, ...]]:
    """The bodies with contact shapes of each side.

    Args:
        model: A model with feet.

    Returns:
        Names by side.

    Raises:
        HomodynError: A side has no contact shape.
    """
    found = {}
    for side in Side:
        own = [shape.body for shape in model.contacts if side_of(shape.name) is side]
        if not own:
            raise HomodynError(f"model {model.name!r} has no contact shape of the {side} foot")
        found[side] = tuple(dict.fromkeys(own))
    return found


def _read(source: str | Path) -> TomlDocument:
    if str(source) in BUNDLED_STUDIES and not Path(source).exists():
        bundled = files("homodyn.gait.studies").joinpath("bundled", f"{source}.toml")
        return parse_toml(bundled.read_text(encoding="utf-8"), f"{source}.toml")
    if not Path(source).exists() and Path(source).suffix != ".toml":
        raise HomodynError(
            unknown_name("gait study", str(source), BUNDLED_STUDIES) + ", or a TOML file"
        )
    return read_toml(Path(source))


def _model(name: str, document: TomlDocument) -> Model:
    """A model of the catalog, or of a file beside the study."""
    if name in [entry.name for entry in catalog.entries()]:
        return catalog.build(name)
    return load(Path(document.path).parent / name)


def _contact_law(section: _ContactSection) -> ContactLaw:
    constants = (section.stiffness, section.damping, section.friction)
    # Values by name are those of contact shapes, with "*" for the others.
    return SoftContact(*constants) if section.kind == "soft" else ImplicitSprings(*constants)
