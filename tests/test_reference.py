"""The API reference lists every exported name."""

import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

import pytest

import homodyn

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "api"
PACKAGES = sorted(
    module.name
    for module in pkgutil.iter_modules(homodyn.__path__)
    if module.ispkg and module.name not in ("bench", "cli")
)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_exported_name_is_in_the_reference(package):
    page = (FOLDER / f"{package}.md").read_text(encoding="utf-8")
    headings = {line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")}
    names = set(importlib.import_module(f"homodyn.{package}").__all__)
    assert names == headings, "run python tools/write_api_reference.py"


@pytest.mark.parametrize("package", PACKAGES)
def test_the_names_of_every_group_are_in_the_reference(package):
    page = (FOLDER / f"{package}.md").read_text(encoding="utf-8")
    module = importlib.import_module(f"homodyn.{package}")
    for group in module.__all__:
        value = getattr(module, group)
        if isinstance(value, ModuleType):
            for name in getattr(value, "__all__", ()):
                if not isinstance(getattr(value, name), ModuleType):
                    assert f"\n### {group}.{name}\n" in page, "run tools/write_api_reference.py"
