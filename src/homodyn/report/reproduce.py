"""How to get the same result again: command, settings, versions, contents of the files."""

from __future__ import annotations

import platform
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from homodyn import __version__
from homodyn.report import texts
from homodyn.report.html import paragraph, table

if TYPE_CHECKING:
    from homodyn.analysis.pipeline import Analysis

PACKAGES = ("casadi", "numpy", "scipy", "ezc3d")
"""What numbers depend on."""


def versions() -> dict[str, str]:
    """Versions of everything that numbers depend on."""
    found = {"homodyn": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def reproduction(analysis: Analysis) -> str:
    """The section of the page."""
    settings = analysis.settings
    rows = [
        [name, "–" if value is None else str(value)]
        for name, value in settings.portable().to_dict().items()
    ]
    files = [
        [what, Path(path).name, analysis.digests.get(what, "")[:16]]
        for what, path in {"trial": analysis.source, **settings.files()}.items()
    ]
    stages = [[stage, f"{seconds:.2f}"] for stage, seconds in analysis.seconds.items()]
    written = [[name, what] for name, what in texts.FILES.items()]
    return "".join(
        [
            paragraph(
                "The same files, settings and versions give the same numbers: nothing is drawn at "
                "random. With all files in one folder:"
            ),
            f"<pre>{escape(settings.command(analysis.source))}</pre>",
            table(
                [("file", ""), ("name", ""), ("SHA-256 begins with", "")], files, "What was read"
            ),
            table(
                [("", ""), ("version", "")],
                [[name, number] for name, number in versions().items()],
                "Versions",
            ),
            "<details><summary>All settings</summary>",
            table([("setting", ""), ("value", "")], rows),
            "</details><details><summary>Time of each stage</summary>",
            table([("stage", ""), ("time (s)", "n")], stages),
            "</details><details><summary>Files beside this page</summary>",
            table([("file", ""), ("what is in it", "")], written),
            "</details>",
        ]
    )
