"""Jobs in the XML files of the optimization framework of van den Kieboom (2014, section 3.4.2).

The reader supports the optimizer and its settings, boundaries, parameters, the fitness expression
or terms, and the dispatcher with its settings, in which environment variables are expanded. A
dispatcher is a program: the setting ``command``, or the name of the dispatcher. The dispatcher
"codyn" with a network (.cdn) as its ``world`` is the simulation of that network. Fitness is
maximized, as in that framework.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.parsers import expat

from homodyn.errors import SearchError
from homodyn.search.expression import Expression
from homodyn.search.jobs.job import Job
from homodyn.search.jobs.job_toml import expand_variables
from homodyn.search.jobs.job_validation import Place, validate_job

OPTIMIZERS = {"pso": "pso", "ga": "ga", "pmpso": "mmpso", "mmpso": "mmpso", "spsa": "spsa"}
OPTIMIZERS["systematic"] = "grid"
NETWORK_DISPATCHER, NETWORK_SUFFIX = "codyn", ".cdn"
NETWORK_SETTINGS = ("network", "world")
"""Settings of the dispatcher "codyn" with the file of the network."""
_PLACEHOLDER_BOUNDS = (0.0, 1.0)
"""Replace bounds with an error, which is reported."""
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
    """An XML element with its line."""

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
    """Read a job from an XML file.

    Args:
        path: The file.

    Returns:
        The job.

    Raises:
        SearchError: The file cannot be read, or it has errors.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SearchError(f"{path} cannot be read: {error.strerror}") from None
    return job_from_xml(content, path)


def job_from_xml(content: bytes | str, path: Path) -> Job:
    """Parse a job from XML.

    Args:
        content: The XML document.
        path: The file that it came from.

    Returns:
        The job.

    Raises:
        SearchError: The document has errors; all of them are listed with their lines.
    """
    root = _parse(content, path)
    errors: list[tuple[int, str]] = []
    if root.tag != "job":
        raise SearchError(f"{path}, line {root.line}: expected <job>, not <{root.tag}>")
    optimizer = root.first("optimizer")
    lines: dict[Place, int] = {(): root.line, ("optimizer",): optimizer.line}
    data: dict[str, Any] = {"name": root.attributes.get("name", path.stem)}
    data["optimizer"], data["iterations"] = _optimizer(optimizer, lines, errors)
    data["parameter"] = _parameters(optimizer, lines, errors)
    data.update(_fitness(optimizer.first("fitness"), lines))
    data["evaluate"] = _dispatcher(root.first("dispatcher"), path, errors)
    data["pool"] = _pools(optimizer, lines)

    def line_of(place: Place) -> int:
        while place not in lines:
            place = place[:-1]
        return lines[place]

    return validate_job(data, path, line_of, errors)


def _optimizer(
    node: _Node, lines: dict[Place, int], errors: list[tuple[int, str]]
) -> tuple[dict[str, Any], int]:
    name = node.attributes.get("name", "").lower()
    if name not in OPTIMIZERS:
        errors.append((node.line, f"no optimizer {name!r}; accepted: {sorted(OPTIMIZERS)}"))
    settings: dict[str, Any] = {"kind": OPTIMIZERS.get(name, "pso")}
    iterations = 100
    for setting in node.all("setting"):
        key, text = setting.attributes.get("name", ""), setting.text.strip()
        target, convert = SETTINGS.get(key, ("", str))
        try:
            if key == "max-iterations":
                iterations = int(text)
                lines["iterations",] = setting.line
            elif target:
                settings[target] = convert(text)
                lines["optimizer", target] = setting.line
            else:
                known = sorted([*SETTINGS, "max-iterations"])
                errors.append((setting.line, f"no setting {key!r}; accepted: {known}"))
        except ValueError:
            errors.append((setting.line, f"{key} is {text!r}; expected a number"))
    return settings, iterations


def _parameters(
    node: _Node, lines: dict[Place, int], errors: list[tuple[int, str]]
) -> list[dict[str, Any]]:
    bounds = {
        boundary.attributes.get("name", ""): _bounds(boundary, errors)
        for boundary in node.first("boundaries").all("boundary")
    }
    lines["parameter",] = node.first("parameters").line
    found = []
    for k, parameter in enumerate(node.first("parameters").all("parameter")):
        name = parameter.attributes.get("name", "")
        lines["parameter", k] = parameter.line
        if "boundary" in parameter.attributes:
            boundary = parameter.attributes["boundary"]
            if boundary not in bounds:
                message = f"parameter {name!r}: no boundary {boundary!r}; known: {sorted(bounds)}"
                errors.append((parameter.line, message))
            lower, upper = bounds.get(boundary, _PLACEHOLDER_BOUNDS)
        else:
            lower, upper = _bounds(parameter, errors)
        found.append({"name": name, "lower": lower, "upper": upper})
    return found


def _bounds(node: _Node, errors: list[tuple[int, str]]) -> tuple[float, float]:
    """The numbers min and max, which may be expressions of numbers."""
    bounds: list[float] = []
    for key in ("min", "max"):
        text = node.attributes.get(key, "")
        try:
            bounds.append(float(Expression(text)({})))
        except SearchError as error:
            errors.append((node.line, f"{node.attributes.get('name')}: {key}: {error}"))
            return _PLACEHOLDER_BOUNDS
    lower, upper = bounds
    if not lower < upper:
        message = f"min ({lower:g}) must be below max ({upper:g})"
        errors.append((node.line, f"{node.attributes.get('name')}: {message}"))
        return _PLACEHOLDER_BOUNDS
    return lower, upper


def _fitness(node: _Node, lines: dict[Place, int]) -> dict[str, Any]:
    lines["objective",] = node.line
    for expression in node.all("expression"):
        text = expression.text.strip()
        lines["expression",] = expression.line
        try:
            names: tuple[str, ...] = Expression(text).variables
        except SearchError:  # reported when the job is validated
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


def _dispatcher(node: _Node, path: Path, errors: list[tuple[int, str]]) -> dict[str, Any]:
    settings: dict[str, str] = {}
    for setting in node.all("setting"):
        try:
            settings[setting.attributes.get("name", "")] = expand_variables(
                setting.text.strip(), path.parent
            )
        except SearchError as error:
            errors.append((setting.line, str(error)))
    network = next((settings[key] for key in NETWORK_SETTINGS if key in settings), "")
    name = node.attributes.get("name", "")
    if name.lower() == NETWORK_DISPATCHER and network.endswith(NETWORK_SUFFIX):
        rest = {key: text for key, text in settings.items() if key not in NETWORK_SETTINGS}
        return {"network": network, "settings": rest}
    command = settings.pop("command", name)
    if not command:
        errors.append((node.line, "a job needs a <dispatcher name=...>"))
    try:
        program = tuple(shlex.split(command))
    except ValueError as error:
        program = ()
        errors.append((node.line, f"the command cannot be split into words: {error}"))
    return {"program": program, "settings": settings}


def _pools(node: _Node, lines: dict[Place, int]) -> list[dict[str, Any]]:
    """Pools: <pools><pool name><group name>a b</group></pool></pools>."""
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
    """The tree of a document. Entity declarations are refused: they can expand without limit."""
    parser = expat.ParserCreate()
    stack: list[_Node] = [_Node("", {}, 0)]

    def start(tag: str, attributes: dict[str, str]) -> None:
        node = _Node(tag, attributes, parser.CurrentLineNumber)
        stack[-1].children.append(node)
        stack.append(node)

    def end(tag: str) -> None:
        stack.pop()

    def text(data: str) -> None:
        stack[-1].text += data

    def entity(*declaration: Any) -> None:
        raise SearchError(f"{path}: entity declarations are not accepted")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(content.strip() if isinstance(content, str) else content, True)
    except expat.ExpatError as error:
        raise SearchError(f"{path}, line {parser.ErrorLineNumber}: {error}") from None
    return stack[0].children[0]
