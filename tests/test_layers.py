"""Imports between the folders of the package go downwards only."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import homodyn

PACKAGE = Path(homodyn.__file__).parent

# The house, from the roof to the ground. A room may import the rooms on lower floors and itself;
# rooms that share a floor do not know each other.
FLOORS = (
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
HEIGHT = {room: -depth for depth, rooms in enumerate(FLOORS) for room in rooms}


def room_of(file: Path, package: Path) -> str:
    """The folder of the package a file is in, or the name of a file beside the folders."""
    return file.relative_to(package).with_suffix("").parts[0]


def modules_imported(file: Path, package: Path) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything a file imports, wherever in it the import stands."""
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


def rooms_imported(file: Path, package: Path) -> Iterator[tuple[int, str]]:
    """Line and room of everything a file imports from the package."""
    for line, module in modules_imported(file, package):
        match module.split("."):
            # The version is a fact about the package, free to all.
            case ["homodyn", "__version__"]:
                continue
            case ["homodyn", name, *_] if name in HEIGHT or (package / name).is_dir():
                yield line, name
            case ["homodyn", *_]:
                yield line, "__init__"


def faults(package: Path) -> list[str]:
    """Every file without a room and every import that does not go downwards."""
    found = []
    for file in sorted(package.rglob("*.py")):
        place = file.relative_to(package).as_posix()
        room = room_of(file, package)
        if room not in HEIGHT:
            found.append(f"{place}: no room of the house is called {room}")
            continue
        for line, other in rooms_imported(file, package):
            if other == room:
                continue
            if other not in HEIGHT:
                found.append(f"{place}:{line}: no room of the house is called {other}")
            elif HEIGHT[other] >= HEIGHT[room]:
                found.append(f"{place}:{line}: {room} may not import {other}")
    return found


def test_imports_go_downwards():
    assert faults(PACKAGE) == []


def plant(package: Path, place: str, text: str) -> list[str]:
    file = package / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return faults(package)


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
def test_an_upward_or_sideways_import_is_caught(tmp_path, place, text):
    (fault,) = plant(tmp_path, place, text)
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
    assert plant(tmp_path, place, text) == []


@pytest.mark.parametrize("place", ["utils/text.py", "helpers.py"])
def test_a_file_in_no_known_room_is_caught(tmp_path, place):
    assert plant(tmp_path, place, "") == [
        f"{place}: no room of the house is called {place.partition('/')[0].removesuffix('.py')}"
    ]
