"""Jobs of the optimisation framework of van den Kieboom (2014, section 3.4.2), in their XML.

Read are the optimizer and its settings, boundaries, parameters, the fitness expression or terms,
and the dispatcher with its settings, in which environment variables are expanded. A dispatcher is
a program: the setting ``command`` names it, else its own name is looked for on the path. Fitness is
maximized, as there.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.parsers import expat

from homodyn.errors import SearchError
from homodyn.search.expression import Expression
from homodyn.search.job import Job
from homodyn.search.job_toml import expand_variables
from homodyn.search.job_validation import Place, validate_job

OPTIMIZERS = {"pso": "pso", "ga": "ga", "pmpso": "mmpso", "mmpso": "mmpso", "spsa": "spsa"}
OPTIMIZERS["systematic"] = "grid"
_ANY = (0.0, 1.0)
"""Bounds that stand for some that could not be read, which is told."""
SETTINGS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "population-size": ("population", int),
    "max-velocity": ("max_velocity", float),
    "inertia": ("inertia", float),
    "constriction": ("constriction", float),
    "cognitive-factor": ("own", float),
    "social-factor": ("social", float),
    "mutation-probability": ("mutation", float),
    "crossover-probability": ("crossover", float),
    "exploration": ("explore", str),
    "local": ("local", str),
    "global": ("globally", str),
    "steps": ("steps", int),
}


class _Node:
    """An element that knows its line."""

    def __init__(self, tag: str, attributes: dict[str, str], line: int) -> None:
        self.tag, self.attributes, self.line = tag, attributes, line
        self.text = ""
        self.children: list[_Node] = []

    def all(self, tag: str) -> list[_Node]:
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> _Node:
        found = self.all(tag)
        return found[0] if found else _Node(tag, {}, self.line)


def read_xml_job(path: Path) -> Job:
    """The job in an XML file."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SearchError(f"{path} cannot be read: {error.strerror}") from None
    return job_from_xml(content, path)


def job_from_xml(content: bytes | str, path: Path) -> Job:
    """The job in an XML text that came from a path; all mistakes at once, each with its line."""
    root = _parse(content, path)
    faults: list[tuple[int, str]] = []
    if root.tag != "job":
        raise SearchError(f"{path}, line {root.line}: a job begins with <job>, not <{root.tag}>")
    optimizer = root.first("optimizer")
    lines: dict[Place, int] = {(): root.line, ("optimizer",): optimizer.line}
    data: dict[str, Any] = {"name": root.attributes.get("name", path.stem)}
    data["optimizer"], data["iterations"] = _optimizer(optimizer, lines, faults)
    data["parameter"] = _parameters(optimizer, lines, faults)
    data.update(_fitness(optimizer.first("fitness"), lines))
    data["evaluate"] = _dispatcher(root.first("dispatcher"), path, faults)
    data["pool"] = _pools(optimizer, lines)

    def line_of(place: Place) -> int:
        while place not in lines:
            place = place[:-1]
        return lines[place]

    return validate_job(data, path, line_of, faults)


def _optimizer(
    node: _Node, lines: dict[Place, int], faults: list[tuple[int, str]]
) -> tuple[dict[str, Any], int]:
    name = node.attributes.get("name", "").lower()
    if name not in OPTIMIZERS:
        faults.append((node.line, f"no optimizer {name!r}; there are {sorted(OPTIMIZERS)}"))
    found: dict[str, Any] = {"kind": OPTIMIZERS.get(name, "pso")}
    iterations = 100
    for setting in node.all("setting"):
        key, text = setting.attributes.get("name", ""), setting.text.strip()
        target, convert = SETTINGS.get(key, ("", str))
        try:
            if key == "max-iterations":
                iterations = int(text)
                lines["iterations",] = setting.line
            elif target:
                found[target] = convert(text)
                lines["optimizer", target] = setting.line
            else:
                known = sorted([*SETTINGS, "max-iterations"])
                faults.append((setting.line, f"no setting {key!r}; there are {known}"))
        except ValueError:
            faults.append((setting.line, f"{key} is {text!r}, expected a number"))
    return found, iterations


def _parameters(
    node: _Node, lines: dict[Place, int], faults: list[tuple[int, str]]
) -> list[dict[str, Any]]:
    bounds = {
        boundary.attributes.get("name", ""): _ends(boundary, faults)
        for boundary in node.first("boundaries").all("boundary")
    }
    lines["parameter",] = node.first("parameters").line
    found = []
    for k, parameter in enumerate(node.first("parameters").all("parameter")):
        name = parameter.attributes.get("name", "")
        lines["parameter", k] = parameter.line
        if "boundary" in parameter.attributes:
            wanted = parameter.attributes["boundary"]
            if wanted not in bounds:
                told = f"parameter {name!r}: no boundary {wanted!r}; there are {sorted(bounds)}"
                faults.append((parameter.line, told))
            ends = bounds.get(wanted, _ANY)
        else:
            ends = _ends(parameter, faults)
        found.append({"name": name, "lower": ends[0], "upper": ends[1]})
    return found


def _ends(node: _Node, faults: list[tuple[int, str]]) -> tuple[float, float]:
    """The numbers min and max, which may be expressions of numbers."""
    ends: list[float] = []
    for key in ("min", "max"):
        text = node.attributes.get(key, "")
        try:
            ends.append(float(Expression(text)({})))
        except SearchError as refusal:
            faults.append((node.line, f"{node.attributes.get('name')}: {key}: {refusal}"))
            return _ANY
    if not ends[0] < ends[1]:
        told = f"min ({ends[0]:g}) must be below max ({ends[1]:g})"
        faults.append((node.line, f"{node.attributes.get('name')}: {told}"))
        return _ANY
    return ends[0], ends[1]


def _fitness(node: _Node, lines: dict[Place, int]) -> dict[str, Any]:
    lines["objective",] = node.line
    for expression in node.all("expression"):
        text = expression.text.strip()
        lines["expression",] = expression.line
        try:
            names: tuple[str, ...] = Expression(text).variables
        except SearchError:  # told when the job is checked
            names = ("fitness",)
        objectives = [{"name": name, "maximize": True} for name in names]
        return {"objective": objectives, "expression": text, "maximize": True}
    objectives = [
        {"name": variable.attributes.get("name", ""), "maximize": True}
        for variable in node.all("variable")
    ]
    return {
        "objective": objectives or [{"name": "fitness", "maximize": True}],
        "combine": "sum" if len(objectives) > 1 else "lexicographic",
    }


def _dispatcher(node: _Node, path: Path, faults: list[tuple[int, str]]) -> dict[str, Any]:
    settings: dict[str, str] = {}
    for setting in node.all("setting"):
        try:
            settings[setting.attributes.get("name", "")] = expand_variables(
                setting.text.strip(), path.parent
            )
        except SearchError as refusal:
            faults.append((setting.line, str(refusal)))
    command = settings.pop("command", node.attributes.get("name", ""))
    if not command:
        faults.append((node.line, "a job needs a <dispatcher name=...>"))
    return {"program": tuple(shlex.split(command)), "settings": settings}


def _pools(node: _Node, lines: dict[Place, int]) -> list[dict[str, Any]]:
    """Sets of exclusive groups: <pools><pool name><group name>a b</group></pool></pools>."""
    found = []
    for k, pool in enumerate(node.first("pools").all("pool")):
        lines["pool", k] = pool.line
        groups = {}
        for number, group in enumerate(pool.all("group")):
            name = group.attributes.get("name", str(number))
            groups[name] = tuple(group.text.split())
            lines["pool", k, "groups", name] = group.line
        found.append({"name": pool.attributes.get("name", ""), "groups": groups})
    return found


def _parse(content: bytes | str, path: Path) -> _Node:
    """The tree of a document; entities of its own are not read, as they can grow without bound."""
    parser = expat.ParserCreate()
    stack: list[_Node] = [_Node("", {}, 0)]

    def start(tag: str, attributes: dict[str, str]) -> None:
        node = _Node(tag, attributes, parser.CurrentLineNumber)
        stack[-1].children.append(node)
        stack.append(node)

    def end(tag: str) -> None:
        stack.pop()

    def text(given: str) -> None:
        stack[-1].text += given

    def entity(*told: Any) -> None:
        raise SearchError(f"{path}: a job may not declare entities")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(content.strip() if isinstance(content, str) else content, True)
    except expat.ExpatError as error:
        raise SearchError(f"{path}, line {parser.ErrorLineNumber}: {error}") from None
    return stack[0].children[0]
