"""Progress of a study."""

import numpy as np
import pytest

from homodyn.studio.study_progress import read_progress


def test_progress_has_the_values_of_the_generations(study):
    place, result = study
    found = read_progress(place)
    assert found.overview.generations == 12
    assert found.objective == "value"
    assert found.so_far[-1] == pytest.approx(result.best.objectives["value"])
    assert (np.diff(found.so_far) <= 0).all()
    assert (found.best >= found.so_far).all()
