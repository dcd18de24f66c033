"""Waiting for what another thread or process does."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep
from typing import Any

import pytest

PATIENCE = 300.0
"""s after which something that did not happen is a failure, however busy the machine."""


def until(true: Callable[[], Any], what: str = "it", patience: float = PATIENCE) -> Any:
    """Wait until something is true, and return it; fail with its name after a while."""
    end = monotonic() + patience
    while monotonic() < end:
        if found := true():
            return found
        sleep(0.05)
    pytest.fail(f"{what} did not happen within {patience:g} s")
