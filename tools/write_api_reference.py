"""Write the API reference, one page per package, from the docstrings of exported names.

python tools/write_api_reference.py [--check]

With ``--check`` nothing is written; the exit status is 0 if the pages are up to date.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import sys
import textwrap
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any

import homodyn

FOLDER = Path(__file__).parent.parent / "docs" / "api"
HIDDEN = ("bench", "cli")
"""Packages without a public Python interface."""


def packages() -> list[str]:
    """Names of the packages, in alphabetical order."""
    return sorted(
        module.name
        for module in pkgutil.iter_modules(homodyn.__path__)
        if module.ispkg and module.name not in HIDDEN
    )


def signature(name: str, value: Any) -> str:
    """The call of a function or class, with short annotations."""
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        return name
    text = re.sub(
        r"<factory>|<function \S+ at 0x[0-9a-f]+>|<object object at 0x[0-9a-f]+>", "...", text
    )
    text = re.sub(r"homodyn\.[\w.]+\.(\w+)", r"\1", text)
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)
    text = re.sub(r"array\(\[.*?\]\)", "array", text)
    if len(name) + len(text) > 96:
        inside, _, returned = text[1:].rpartition(")")
        depth, parts, start = 0, [], 0
        for k, letter in enumerate(inside):
            depth += (letter in "([{") - (letter in ")]}")
            if letter == "," and depth == 0:
                parts.append(inside[start:k].strip())
                start = k + 1
        parts.append(inside[start:].strip())
        text = "(\n    " + ",\n    ".join(part for part in parts if part) + f",\n){returned}"
    return f"{name}{text}"


def exported(module: ModuleType) -> list[str]:
    """Exported names of a package or of a group inside it, in alphabetical order."""
    names = getattr(module, "__all__", None)
    if names is None:
        names = [
            name
            for name, value in vars(module).items()
            if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
        ]
    return sorted(names, key=lambda name: (name.lower(), name))


def entry(name: str, value: Any, heading: str = "##") -> str:
    """One exported name as Markdown; a group of names is followed by its own entries."""
    doc = inspect.getdoc(value) or ""
    if isinstance(value, ModuleType):
        inside = [
            entry(f"{name}.{key}", getattr(value, key), heading + "#")
            for key in exported(value)
            if not isinstance(getattr(value, key), ModuleType)
        ]
        return "\n".join([f"{heading} {name}\n\n{plain(doc)}\n", *inside])
    if not (inspect.isclass(value) or callable(value)):
        return f"{heading} {name}\n\nA constant of type `{type(value).__name__}`.\n"
    if inspect.isclass(value) and issubclass(value, Enum):
        listed = "\n".join(f"- `{name}.{each.name}` = {each.value!r}" for each in value)
        return f"{heading} {name}\n\n{plain(doc)}\n\n{listed}\n"
    parts = [f"{heading} {name}", f"```text\n{signature(name, value)}\n```", plain(doc)]
    if inspect.isclass(value):
        parts += [*fields(value), *members(value), *inherited(value)]
    return "\n\n".join(part for part in parts if part) + "\n"


def inherited(value: type) -> list[str]:
    """Public methods and properties from base classes of Homodyn, in one line."""
    names = {
        key: f"`.{key}`" if isinstance(member, property) else f"`.{key}()`"
        for base in value.__mro__[1:]
        if base.__module__.startswith("homodyn.")
        for key, member in vars(base).items()
        if not key.startswith("_")
        and key not in vars(value)
        and (callable(member) or isinstance(member, property | classmethod | staticmethod))
    }
    return [f"Inherited: {', '.join(names[key] for key in sorted(names))}."] if names else []


def fields(value: type) -> list[str]:
    """Fields of a dataclass with their docstrings."""
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(value))).body
    except (OSError, TypeError, ValueError):
        return []
    assert isinstance(tree, ast.ClassDef)
    rows = []
    for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        text = ""
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            text = ": " + " ".join(str(after.value.value).replace("``", "`").split())
        if not node.target.id.startswith("_"):
            rows.append(f"- `{node.target.id}`{text}")
    return ["\n".join(rows)] if rows else []


def members(value: type) -> list[str]:
    """Public methods and properties of a class."""
    rows = []
    for key, member in vars(value).items():
        if key.startswith("_"):
            continue
        doc = (inspect.getdoc(member) or "").split("\n\n")[0].replace("\n", " ")
        if isinstance(member, property) or type(member).__name__ == "cached_property":
            rows.append(f"- `.{key}`: {doc}")
        elif inspect.isfunction(member) or isinstance(member, classmethod | staticmethod):
            rows.append(f"- `.{key}()`: {doc}")
    return ["\n".join(rows)] if rows else []


def plain(doc: str) -> str:
    """A docstring as Markdown: sections in bold, their entries as lists."""
    lines, section = [], False
    for line in doc.replace("``", "`").splitlines():
        if re.fullmatch(r"(Args|Returns|Raises|Yields):", line):
            lines += [f"**{line}**", ""]
            section = True
        elif section and re.match(r"    \S", line):
            lines.append("- " + line.strip())
        elif section and line.startswith("        "):
            lines[-1] += " " + line.strip()
        else:
            section = section and not line.strip()
            lines.append(line)
    return "\n".join(lines)


def page(package: str) -> str:
    """The page of one package."""
    module = importlib.import_module(f"homodyn.{package}")
    intro = plain(inspect.getdoc(module) or "")
    names = exported(module)
    index = ", ".join(f"[`{name}`](#{name.lower()})" for name in names)
    entries = "\n".join(entry(name, getattr(module, name)) for name in names)
    return f"# hd.{package}\n\n{intro}\n\n{index}\n\n{entries}"


def main() -> int:
    """Write all pages, or check that they are up to date."""
    pages = {f"{package}.md": page(package) for package in packages()}
    listed = "\n".join(
        f"| [hd.{name.removesuffix('.md')}]({name}) | {text.splitlines()[2]} |"
        for name, text in pages.items()
    )
    pages["index.md"] = (
        "# API reference\n\nAll exported names, from their docstrings by "
        f"`tools/write_api_reference.py`.\n\n| package | what it holds |\n|---|---|\n{listed}\n"
    )
    if "--check" in sys.argv:
        stale = [
            name
            for name, text in pages.items()
            if not (FOLDER / name).is_file() or (FOLDER / name).read_text(encoding="utf-8") != text
        ]
        print("\n".join(stale) or "up to date")
        return int(bool(stale))
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file in FOLDER.glob("*.md"):
        file.unlink()
    for name, text in pages.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"{len(pages)} pages in {FOLDER}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
