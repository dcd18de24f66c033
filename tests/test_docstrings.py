"""Every exported name has a docstring that a reference can be made of, without gaps."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import homodyn

PACKAGES = sorted(
    module.name
    for module in pkgutil.iter_modules(homodyn.__path__)
    if module.ispkg and module.name not in ("bench", "cli")
)


def exported_objects(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Functions and classes that a package exports, by name."""
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value) or callable(value):
            yield name, value


def parameters(function: Any) -> list[str]:
    """Names of the parameters that a caller may give."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in found if p.name not in ("self", "cls") and not p.name.startswith("_")]


def returns_something(function: Any) -> bool:
    """Whether a function is annotated to return a value."""
    annotation = inspect.signature(function).return_annotation
    return annotation not in (None, "None", inspect.Signature.empty)


def described(doc: str, parameter: str) -> bool:
    """Whether a parameter has an entry in the ``Args`` of a docstring."""
    args = re.split(r"^\s*(?:Args|Arguments):\s*$", doc, maxsplit=1, flags=re.M)
    if len(args) < 2:
        return False
    entries = re.split(r"^\s*(?:Returns|Raises|Yields|Example)s?:\s*$", args[1], flags=re.M)[0]
    return bool(re.search(rf"^\s+\*{{0,2}}(?:\w+, )*{re.escape(parameter)}\b.*:", entries, re.M))


def gaps(name: str, value: Any) -> list[str]:
    """What the docstring of an exported name lacks."""
    doc = inspect.getdoc(value) or ""
    if not doc or not doc.split("\n")[0].strip():
        return [f"{name}: no docstring"]
    if inspect.isclass(value):
        return method_gaps(name, value)
    found = [
        f"{name}: no entry for {p!r} in Args" for p in parameters(value) if not described(doc, p)
    ]
    if returns_something(value) and "Returns:" not in doc and "Yields:" not in doc:
        found.append(f"{name}: no Returns")
    return found


def method_gaps(name: str, value: type) -> list[str]:
    """Public methods and properties without a docstring."""
    found = []
    for key, member in vars(value).items():
        if key.startswith("_") or not (inspect.isfunction(member) or isinstance(member, property)):
            continue
        if not inspect.getdoc(member):
            found.append(f"{name}.{key}: no docstring")
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_every_exported_name_is_documented(package):
    module = importlib.import_module(f"homodyn.{package}")
    missing = [gap for name, value in exported_objects(module) for gap in gaps(name, value)]
    assert missing == []


def good(first, *, rate=1.0):
    """Add.

    Args:
        first: A number.
        rate: Another (Hz).
    """


def test_gaps_are_found():
    def silent(x):
        pass

    def terse(first, rate):
        """Add.

        Args:
            first: A number.
        """

    def mute(first) -> int:
        """Add.

        Args:
            first: A number.
        """
        return first

    assert gaps("good", good) == []
    assert gaps("silent", silent) == ["silent: no docstring"]
    assert gaps("terse", terse) == ["terse: no entry for 'rate' in Args"]
    assert gaps("mute", mute) == ["mute: no Returns"]
