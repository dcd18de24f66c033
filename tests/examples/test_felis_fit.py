"""The experiment with two subjects, on few frames."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "felis_fit.py"


@pytest.fixture(scope="module")
def fits(tmp_path_factory: pytest.TempPathFactory) -> list:
    spec = importlib.util.spec_from_file_location("felis_fit", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up by name.
    sys.modules[spec.name] = script
    spec.loader.exec_module(script)
    path = tmp_path_factory.mktemp("felis") / "fit.png"
    found = script.main(path, frames=10)
    assert path.stat().st_size > 10_000
    return found


def test_own_markers_fit_to_a_centimeter_in_few_steps(fits: list) -> None:
    own = [fit for fit in fits if fit.model == fit.subject]
    assert len(own) == 2
    for fit in own:
        assert fit.marker_means.mean() <= 1.0
        assert 100 * fit.motion.residual.max() < 4.0
        assert fit.motion.iterations[1:].mean() < 30


def test_markers_of_another_fit_worse_unevenly_and_slowly(fits: list) -> None:
    for name in ("Subject1", "Subject3"):
        own = next(f for f in fits if f.subject == name and f.model == name)
        other = next(f for f in fits if f.subject == name and f.model != name)
        assert 1.5 < other.marker_means.mean() < 2.5
        assert np.std(other.marker_means) > 3 * np.std(own.marker_means)
        steps = [fit.motion.iterations[1:].mean() for fit in (own, other)]
        assert steps[1] > 3 * steps[0]
