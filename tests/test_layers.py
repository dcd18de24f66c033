"""Imports go downwards only: between packages, between the layers inside them, without cycles."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import homodyn

PACKAGE = Path(homodyn.__file__).parent

# From the top to the bottom. A package may import those of lower layers and itself; packages of
# one layer do not import each other.
LAYERS = (
    # faces
    ("__init__", "__main__"),
    ("cli",),
    ("studio", "bench"),
    ("report",),
    # studies
    ("analysis",),
    ("codesign",),
    # movement
    ("gait",),
    ("plan",),
    ("track",),
    ("optimal",),
    ("search",),
    ("balance",),
    # the world and time
    ("synthetic",),
    ("capture",),
    ("control",),
    ("simulate",),
    ("muscle",),
    ("network",),
    # records and mechanics
    ("motion",),
    ("dynamics", "catalog"),
    ("model",),
    # ground
    ("integrate",),
    ("symbolic",),
    ("foundation",),
    ("spatial",),
    ("errors",),
)
DEPTH = {package: depth for depth, packages in enumerate(LAYERS) for package in packages}

# Layers inside packages, from the top to the bottom: folders or modules; REST stands for the
# modules that are not listed. Modules of one layer may import each other, without cycles.
REST = "*"
INNER_LAYERS: dict[str, tuple[tuple[str, ...], ...]] = {
    "optimal": (
        ("problem", "conflicting_constraints", "inverse_optimal_control"),
        ("verify",),
        ("solve",),
        ("nlp",),
        ("transcription",),
        ("statement",),
    ),
    "gait": (("reconstruction", "synthesis"), (REST,)),
    "balance": (("com_planning",), (REST,), ("polytopes",)),
    "capture": (
        ("kinetics",),
        ("kinematics",),
        ("plug_in_gait_centers", "scaling"),
        ("quality",),
        ("labeling",),
        ("filters", "recordings"),
        ("formats",),
        (REST,),
    ),
    "model": (("formats",), (REST,)),
    "search": (
        ("search_loop",),
        ("generation_results", "options"),
        ("studies",),
        ("evaluation", "jobs"),
        ("optimizers",),
        (REST,),
    ),
    "simulate": (
        ("environments", "stimulation_studies"),
        ("simulation",),
        ("run", "rollout"),
        ("rigid",),
        (REST,),
        ("rows",),
        ("constants",),
        ("geometry", "solvers"),
    ),
    "studio": (
        ("studio", "headset"),
        ("panels",),
        ("joint_handle", "pose_handle", "push_handle", "prompts", "demo"),
        ("transform_handle",),
        ("studio_page",),
        ("autosave", "file_opening", "page_theme", "server"),
        ("session_store", "marker_error_bars"),
        ("scene", "export"),
        (REST,),
        ("session",),
        ("playback_clock", "unsaved"),
        ("document",),
        ("access_gate", "background_tasks", "catalog_recipe", "history", "meshes", "view_options"),
    ),
    "track": (("experiments",), ("streams",), (REST,)),
    "report": (
        ("analysis_folder", "demo", "tracking_folder"),
        (
            "overview",
            "trial_page",
            "motion_report",
            "pooled_folder",
            "stimulation_folder",
            "design_study_folder",
            "gait_study_folder",
            "tracking_folder",
        ),
        ("balance_folder", "reconstruction_folder", "simulation_folder", "synthesis_folder"),
        (REST,),
        ("html", "svg", "colors"),
    ),
}


def module_name(file: Path, package: Path) -> str:
    """Dotted name of a file of the package; that of the folder for an ``__init__``."""
    parts = ("homodyn", *file.relative_to(package).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_names(file: Path, package: Path) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything a file imports, wherever in the file it does so."""
    parents = ("homodyn", *file.relative_to(package).parent.parts)
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, name.name) for name in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                start = parents[: len(parents) - level + 1] if level else ()
                base = ".".join((*start, *([module] if module else [])))
                yield from ((node.lineno, f"{base}.{name.name}") for name in names)
            case ast.Call(func=ast.Attribute(attr="import_module"), args=[ast.Constant(value), *_]):
                yield node.lineno, str(value)
            case ast.Call(func=ast.Name("import_module"), args=[ast.Constant(value), *_]):
                yield node.lineno, str(value)


def package_faults(package: Path) -> list[str]:
    """Every file outside the known packages and every import between packages that is not down."""
    found = []
    for file in sorted(package.rglob("*.py")):
        place = file.relative_to(package).as_posix()
        own = file.relative_to(package).with_suffix("").parts[0]
        if own not in DEPTH:
            found.append(f"{place}: {own} is not a known package")
            continue
        for line, other in packages_imported(file, package):
            if other not in DEPTH:
                found.append(f"{place}:{line}: {other} is not a known package")
            elif other != own and DEPTH[other] <= DEPTH[own]:
                found.append(f"{place}:{line}: {own} may not import {other}")
    return found


def packages_imported(file: Path, package: Path) -> Iterator[tuple[int, str]]:
    """Line and package of every import of Homodyn; the version number may be imported anywhere."""
    for line, name in imported_names(file, package):
        match name.split("."):
            case ["homodyn", "__version__"]:
                continue
            case ["homodyn", other, *_] if other in DEPTH or (package / other).is_dir():
                yield line, other
            case ["homodyn", *_]:
                yield line, "__init__"


def inner_faults(package: Path) -> list[str]:
    """Every import inside a package that goes up between its layers."""
    found = []
    for name, layers in INNER_LAYERS.items():
        depth = {unit: number for number, units in enumerate(layers) for unit in units}
        for file in sorted((package / name).rglob("*.py")):
            own = file.relative_to(package / name).with_suffix("").parts[0]
            if own == "__init__":
                continue
            for line, target in imported_names(file, package):
                match target.split("."):
                    case ["homodyn", same, unit, *_] if same == name and unit != own:
                        upper = depth.get(unit, depth.get(REST, 0))
                        if upper < depth.get(own, depth.get(REST, 0)):
                            place = file.relative_to(package).as_posix()
                            found.append(f"{place}:{line}: {own} may not import {unit}")
    return found


def import_graph(package: Path) -> dict[str, dict[str, int]]:
    """Modules that each module imports, with the line; also in functions and for types only."""
    files = {module_name(file, package): file for file in sorted(package.rglob("*.py"))}
    graph: dict[str, dict[str, int]] = {}
    for module, file in files.items():
        edges = graph.setdefault(module, {})
        for line, name in imported_names(file, package):
            target = name if name in files else name.rpartition(".")[0]
            if target in files and target != module and name != "homodyn.__version__":
                edges.setdefault(target, line)
    return graph


def cycles(graph: Mapping[str, Mapping[str, int]]) -> list[list[str]]:
    """Groups of modules that import each other in a circle (Tarjan 1972), sorted."""
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = lowest[module] = len(index)
        stack.append(module)
        for target in graph[module]:
            if target not in index:
                visit(target)
                lowest[module] = min(lowest[module], lowest[target])
            elif target in stack:
                lowest[module] = min(lowest[module], index[target])
        if lowest[module] == index[module]:
            start = stack.index(module)
            group = stack[start:]
            del stack[start:]
            if len(group) > 1:
                found.append(sorted(group))

    for module in graph:
        if module not in index:
            visit(module)
    return sorted(found)


def plant(package: Path, files: Mapping[str, str]) -> None:
    """Write a small package of the given files."""
    for place, text in files.items():
        file = package / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def test_imports_between_packages_go_downwards():
    assert package_faults(PACKAGE) == []


def test_imports_inside_packages_go_downwards():
    assert inner_faults(PACKAGE) == []


def test_every_inner_layer_exists():
    for name, layers in INNER_LAYERS.items():
        for unit in {unit for units in layers for unit in units} - {REST}:
            place = PACKAGE / name / unit
            assert place.is_dir() or place.with_suffix(".py").is_file(), f"{name}/{unit}"


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("model/joint.py", "import homodyn.dynamics.rnea"),
        ("model/joint.py", "from homodyn.dynamics import rnea"),
        ("model/joint.py", "from homodyn import dynamics"),
        ("model/joint.py", "from ..dynamics import rnea"),
        ("model/formats/urdf.py", "from ...dynamics.rnea import rnea"),
        ("model/joint.py", "def f():\n    from homodyn.dynamics import rnea"),
        ("model/joint.py", "import importlib\nimportlib.import_module('homodyn.dynamics')"),
        (
            "model/joint.py",
            "from importlib import *\nimport_module('homodyn.dynamics')",
        ),
        ("model/joint.py", "import homodyn as hd"),
        ("model/joint.py", "from homodyn.catalog import human36"),
        ("catalog/human36.py", "from homodyn.dynamics import rnea"),
        ("dynamics/rnea.py", "from homodyn.catalog import human36"),
        ("bench/dynamics.py", "from homodyn.cli import app"),
        ("spatial.py", "from homodyn.symbolic import trace"),
        ("errors.py", "from homodyn.spatial import cross"),
    ],
)
def test_an_upward_or_sideways_import_is_found(tmp_path, place, text):
    plant(tmp_path, {place: text})
    (fault,) = package_faults(tmp_path)
    assert fault.startswith(f"{place}:{text.count(chr(10)) + 1}: ")
    assert "may not import" in fault


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("dynamics/rnea.py", "from homodyn.model import Model"),
        ("catalog/human36.py", "from homodyn.model import Model"),
        ("model/joint.py", "from homodyn import spatial, symbolic\nfrom homodyn.errors import X"),
        ("model/joint.py", "from . import inertia\nfrom .inertia import Inertia"),
        ("model/formats/urdf.py", "from ..joint import Joint\nfrom ...errors import FormatError"),
        ("cli/bench.py", "from homodyn.bench import run\nfrom homodyn import __version__"),
        ("model/joint.py", "import numpy as np\nfrom scipy import linalg"),
        ("__init__.py", "from homodyn import cli"),
    ],
)
def test_a_downward_import_passes(tmp_path, place, text):
    plant(tmp_path, {place: text})
    assert package_faults(tmp_path) == []


@pytest.mark.parametrize("place", ["utils/text.py", "helpers.py"])
def test_a_file_outside_the_known_packages_is_found(tmp_path, place):
    plant(tmp_path, {place: ""})
    name = place.partition("/")[0].removesuffix(".py")
    assert package_faults(tmp_path) == [f"{place}: {name} is not a known package"]


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("optimal/statement/phase.py", "from homodyn.optimal.transcription import midpoint"),
        ("optimal/transcription/midpoint.py", "from ..nlp.stage_order import order"),
        ("optimal/nlp/stage_order.py", "def f():\n    import homodyn.optimal.solve.solver"),
        ("optimal/solve/solver.py", "from homodyn.optimal.verify.solution import Solution"),
        ("optimal/verify/solution.py", "from homodyn.optimal.problem import Problem"),
        ("balance/polytopes/polytope.py", "from homodyn.balance.stance import Stance"),
        ("capture/trial.py", "from homodyn.capture.formats.c3d import read_c3d"),
        ("gait/events.py", "from homodyn.gait.synthesis.step_synthesis import synthesize"),
    ],
)
def test_an_upward_import_inside_a_package_is_found(tmp_path, place, text):
    plant(tmp_path, {place: text})
    (fault,) = inner_faults(tmp_path)
    assert fault.startswith(f"{place}:{text.count(chr(10)) + 1}: ")


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("optimal/verify/solution.py", "from homodyn.optimal.statement.phase import Phase"),
        ("optimal/problem.py", "from homodyn.optimal.conflicting_constraints import find"),
        ("optimal/statement/phase.py", "from homodyn.optimal.statement.springs import Spring"),
        ("balance/stance.py", "from homodyn.balance.polytopes.polytope import Polytope"),
        ("gait/synthesis/step_synthesis.py", "from homodyn.gait.events import detect_events"),
    ],
)
def test_a_downward_import_inside_a_package_passes(tmp_path, place, text):
    plant(tmp_path, {place: text})
    assert inner_faults(tmp_path) == []


@pytest.mark.parametrize("name", ["report", "studio"])
def test_a_package_has_no_circle_of_imports(name):
    graph = import_graph(PACKAGE)
    own = {module for module in graph if module.startswith(f"homodyn.{name}")}
    inside = {module: {t: graph[module][t] for t in graph[module] if t in own} for module in own}
    assert cycles(inside) == []


@pytest.mark.parametrize(
    "back",
    [
        "from homodyn.model.model import Model",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .model import Model",
        "def f():\n    from homodyn.model.model import Model",
        "from homodyn.model import Model",
    ],
)
def test_a_circle_of_imports_is_found(tmp_path, back):
    plant(
        tmp_path,
        {
            "model/__init__.py": "from homodyn.model.model import Model",
            "model/model.py": "from homodyn.model.root import root",
            "model/root.py": back,
            "model/body.py": "from homodyn.model.joint import Joint",
            "model/joint.py": "",
        },
    )
    (group,) = cycles(import_graph(tmp_path))
    assert {"homodyn.model.model", "homodyn.model.root"} <= set(group)
    assert "homodyn.model.body" not in group
