"""Description of the machine on which a benchmark ran."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from homodyn import __version__

PACKAGES = ("numpy", "scipy", "casadi", "pin", "mujoco", "opensim", "biorbd")
"""Distributions whose versions affect the figures; those that are not installed are left out."""


def processor() -> str:
    """Model name of the processor, or its architecture if the name is unknown."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    if platform.system() == "Darwin":
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        if output.strip():
            return output.strip()
    return platform.processor() or platform.machine()


def versions(packages: tuple[str, ...] = PACKAGES) -> dict[str, str]:
    """Versions of installed packages.

    Args:
        packages: Names of distributions.

    Returns:
        Versions by name of those that are installed.
    """
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def describe() -> dict[str, Any]:
    """Processor, instruction set, compiler and versions, ready for JSON."""
    from homodyn.symbolic import machine

    here = machine()
    compiler = " ".join(part for part in (here.compiler, here.compiler_version) if part)
    return {
        "cpu": processor(),
        "cores": os.cpu_count(),
        "threads": here.threads,
        "instruction_set": here.instruction_set,
        "lanes": here.lanes,
        "fma": here.fma,
        "compiler": compiler or None,
        "system": platform.system(),
        "python": platform.python_version(),
        "homodyn": __version__,
        **versions(),
    }
