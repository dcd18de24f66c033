"""Executors are selected by name."""

import pytest

from homodyn.foundation.executors import ExecutorError, create_executor


def test_unknown_places_are_refused():
    with pytest.raises(ExecutorError, match="where is 'moon'; it can be 'serial', 'pool'"):
        create_executor("moon")
