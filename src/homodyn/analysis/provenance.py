"""Versions of the software that the numbers of a result depend on."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from homodyn import __version__

NUMERIC_PACKAGES = ("casadi", "numpy", "scipy")
"""Packages that the numbers depend on."""


def software_versions() -> dict[str, str]:
    """Versions of everything that the numbers depend on, by package."""
    found = {"homodyn": __version__, "python": platform.python_version()}
    for package in NUMERIC_PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
