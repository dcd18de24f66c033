"""The benchmark of a walk with muscles."""

from types import SimpleNamespace

import numpy as np
import pytest

from homodyn.bench import muscle_walk
from homodyn.bench.optimal_track import SPAN

NAMES = ("pelvis_tx", "hip_flexion_r")


def solution(q):
    time = np.linspace(*SPAN, 5)
    return muscle_walk.WalkSolution(
        seconds=1.0,
        processor=1.0,
        iterations=1,
        success=True,
        own=0.0,
        time=time,
        q=np.tile(q, (5, 1)),
        v=np.zeros((5, 2)),
        control_time=time,
        reserves=np.tile([50.0, 20.0], (5, 1)),
        excitations=np.full((5, 3), 0.5),
    )


def test_strengths_go_by_the_name_of_the_coordinate():
    assert muscle_walk.reserve_strengths(NAMES) == {"pelvis_tx": 100.0, "hip_flexion_r": 10.0}


def test_the_objective_is_the_integral_of_squares():
    driven = SimpleNamespace(names=NAMES, curve=lambda t: np.zeros((len(t), 2)))
    controls = 3 * 0.25 + 0.25 + 4.0
    length = SPAN[1] - SPAN[0]
    found = solution([0.1, 0.0])
    assert found.objective(driven, "inverse") == pytest.approx(controls * length)
    tracking = 0.01 + muscle_walk.EFFORT_WEIGHTS["track"] * controls
    assert found.objective(driven, "track") == pytest.approx(tracking * length)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="'predict'"):
        next(muscle_walk.walk_rows(True, ("predict",)))


def test_a_peer_that_does_not_end_has_its_time_limit():
    driven = SimpleNamespace(names=NAMES, curve=lambda t: np.zeros((len(t), 2)))
    rows = list(muscle_walk._rows(driven, "track", "tracking", solution([0.1, 0.0]), None))
    assert [row.peer for row in rows] == [muscle_walk.MOCO_TIMEOUT_S]
    assert "MocoTrack did not end within 3600 s; Homodyn: 1 iterations" in rows[0].note
