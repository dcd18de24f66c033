"""Waiting for what another thread or process does."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep
from typing import Any

import pytest

PATIENCE = 60.0
"""s that a browser without a graphics card may take on a busy machine."""


def until(true: Callable[[], Any], what: str = "it", patience: float = PATIENCE) -> Any:
    """Wait until something is true, and return it; fail with its name after a while."""
    end = monotonic() + patience
    while monotonic() < end:
        if found := true():
            return found
        sleep(0.05)
    pytest.fail(f"{what} did not happen within {patience:g} s")
