"""The API reference lists every exported name."""

import importlib
import pkgutil
from pathlib import Path

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
