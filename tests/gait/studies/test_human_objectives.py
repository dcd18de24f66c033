"""Objectives of human likeness against the recorded simulation, and formulas of objectives."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.errors import HomodynError
from homodyn.gait.studies import GAIT_OBJECTIVES, load_study
from homodyn.gait.studies.normative_targets import normative_targets
from homodyn.gait.studies.objectives import combine_objectives
from homodyn.model.side import Side
from homodyn.search import Objective

NAMES = (
    *("normative_distance", "knee_distance", "hip_correlation", "ankle_correlation"),
    *("peak_force", "force_excess", "stance_share", "double_support", "head_acceleration"),
    "clearance",
)


@pytest.fixture(scope="module")
def walk():
    """A second of the study that begins at normative angles: values and the recorded simulation."""
    study = load_study("human-normative", duration=1.0)
    formula = {"mix": "2 * peak_force - 3 * hip_correlation"}
    wide = replace(
        study,
        objectives=(
            *(Objective(name, maximize=GAIT_OBJECTIVES[name].maximize) for name in NAMES),
            Objective("mix"),
        ),
        formulas=formula,
    )
    values = [wide.initial_values[name] for name in wide.space.names]
    found = wide.evaluate([values, values])
    result = wide.replay(dict(zip(wide.space.names, values, strict=True)))
    return wide, {name: x[0] for name, x in found.objectives.items()}, result


def window(study, result):
    return result.time[:-1] + study.dt / 2 > study.duration / 2


def test_angles(walk):
    study, found, result = walk
    kept = window(study, result)
    squares, pairs = {}, {}
    for k, target in enumerate(normative_targets(study.model)):
        place = study.model.position_index[study.model.coordinate_index(target.coordinate)]
        start = 0.0 if target.side is Side.RIGHT else 0.5
        phase = (result.time[:-1][kept] * 0.9 + start) % 1.0
        norm = np.array([float(target.at(p)) for p in phase])
        q = result.q[:-1][kept][:, place]
        squares.setdefault(k % 3, []).append(np.mean((q - norm) ** 2))
        pairs.setdefault(k % 3, []).append((q, norm))
    means = [np.mean(squares[k]) for k in range(3)]
    assert found["normative_distance"] == pytest.approx(
        np.rad2deg(np.sqrt(np.mean(means))), rel=1e-3
    )
    assert found["knee_distance"] == pytest.approx(np.rad2deg(np.sqrt(means[1])), rel=1e-3)
    for k, name in ((0, "hip_correlation"), (2, "ankle_correlation")):
        both = np.concatenate([np.stack(pair) for pair in pairs[k]], axis=1)
        assert found[name] == pytest.approx(np.corrcoef(both)[0, 1], abs=2e-3)


def test_forces_and_supports(walk):
    study, found, result = walk
    kept = window(study, result)
    weight = study.model.mass * 9.81
    foot = {
        side: np.sum(
            [f.force[:-1, 2] for f in result.motion.contact_forces if f.side is side], axis=0
        )[kept]
        / weight
        for side in Side
    }
    right, left = foot[Side.RIGHT], foot[Side.LEFT]
    assert found["peak_force"] == pytest.approx(max(right.max(), left.max()), rel=1e-3)
    excess = np.maximum(right - 1.1, 0) + np.maximum(left - 1.1, 0)
    assert found["force_excess"] == pytest.approx(excess.mean(), rel=1e-2, abs=1e-6)
    loaded = np.stack([right > 0.02, left > 0.02])
    assert found["stance_share"] == pytest.approx(loaded.mean(), abs=5e-3)
    assert found["double_support"] == pytest.approx(loaded.all(axis=0).mean(), abs=5e-3)


def test_head(walk):
    from homodyn.dynamics import velocity

    study, found, result = walk
    speed = np.array(
        [
            np.asarray(velocity(study.model, q, v, "vertex"))
            for q, v in zip(result.q[::1], result.v[::1], strict=True)
        ]
    )
    acceleration = np.diff(speed, axis=0)[window(study, result)] / study.dt
    rms = np.sqrt((acceleration**2).sum(axis=1).mean())
    assert found["head_acceleration"] == pytest.approx(rms, rel=2e-2)


def test_formulas(walk):
    _, found, _ = walk
    expected = 2 * found["peak_force"] - 3 * found["hip_correlation"]
    assert found["mix"] == pytest.approx(expected)
    with pytest.raises(HomodynError, match="exists"):
        combine_objectives("torque", "2 * power")
    with pytest.raises(HomodynError, match="names no objective"):
        combine_objectives("five", "2 + 3")
    with pytest.raises(HomodynError, match="grace"):
        combine_objectives("mix", "2 * grace")
