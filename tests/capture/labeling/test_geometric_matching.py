"""Unlabeled points are matched by their positions, or refused."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn import catalog, load
from homodyn.capture import Trial, match_geometry, match_labels, read
from homodyn.dynamics import marker_positions
from homodyn.errors import CaptureError

MODEL = catalog.heiman(height=1.75, mass=70, sex="male")
NAMES = tuple(marker.name for marker in MODEL.markers)


def unlabeled(names, points, seed: int, hidden: int = 0, stray: int = 0):
    """The points in random order, some hidden, with stray points; and the true labels."""
    numbers = np.random.default_rng(seed)
    kept = numbers.permutation(len(names))[: len(names) - hidden]
    cloud = points[kept]
    if stray:
        # Far enough from all markers to be distinguishable.
        box = numbers.uniform(points.min(axis=0) - 0.3, points.max(axis=0) + 0.3, (200, 3))
        nearest = np.linalg.norm(box[:, None] - points, axis=2).min(axis=1)
        cloud = np.concatenate([cloud, box[nearest > 0.25][:stray]])
    labels = tuple(f"*{k}" for k in range(len(cloud)))
    truth = {names[k]: labels[place] for place, k in enumerate(kept)}
    return Trial("points", labels, cloud[None], 100.0), truth


def standing(height: float, seed: int) -> np.ndarray:
    """A standing person of another size and any heading, with 5 mm of marker placement error."""
    numbers = np.random.default_rng(seed)
    person = catalog.heiman(height=height, mass=40 * height, sex="male")
    q = np.array(person.neutral())
    q[6:] += 0.1 * numbers.normal(size=len(q) - 6)
    q = np.clip(q, person.lower, person.upper)
    q[5] = numbers.uniform(0, 2 * np.pi)
    q[:2] = numbers.uniform(-3, 3, 2)
    return marker_positions(person, q) + 0.005 * numbers.normal(size=(len(NAMES), 3))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("height", "hidden", "stray"), [(1.6, 0, 0), (1.9, 2, 3)])
def test_points_of_a_standing_person_get_their_names(height, seed, hidden, stray):
    trial, truth = unlabeled(NAMES, standing(height, seed), seed, hidden, stray)
    try:
        found = match_geometry(MODEL, trial)
    except CaptureError as refusal:
        assert "in two ways" in str(refusal)  # noqa: PT017
        return
    assert {m: truth.get(m) for m in found.matched} == found.matched
    assert len(found.matched) >= len(NAMES) - hidden - 8
    assert set(found.reasons.values()) == {"geometry"}
    assert all(0.3 < value <= 1 for value in found.confidence.values())


@pytest.mark.parametrize(
    ("file", "min_count"),
    [("hdm/walk.c3d", 34), ("c3d/cmu_dec.c3d", 24)],
)
def test_real_recordings_without_their_labels_are_named_mostly(shared_data, file, min_count):
    model = catalog.hdm()
    labeled = match_labels(model, read(shared_data / file)).trial
    trial, truth = unlabeled(labeled.markers, labeled.positions[0], seed=1)
    found = match_geometry(model, trial)
    assert {m: truth[m] for m in found.matched} == found.matched
    assert len(found.matched) >= min_count


def test_models_with_y_up_are_turned(shared_data):
    model = load(shared_data / "gait10dof/subject01.osim")
    labeled = match_labels(model, read(shared_data / "gait10dof/static.trc")).trial
    names = tuple(marker.name for marker in model.markers)
    trial, truth = unlabeled(names, labeled.select_markers(names).positions[0], seed=2)
    found = match_geometry(model, trial)
    assert {m: truth[m] for m in found.matched} == found.matched
    assert len(found.matched) >= 24


def test_ambiguous_points_are_refused():
    # Markers that look the same from the front and from behind.
    names = ("LKNE", "RKNE", "LANK", "RANK", "LTHI", "RTHI", "LELB", "RELB")
    kept = tuple(marker for marker in MODEL.markers if marker.name in names)
    places = marker_positions(MODEL, MODEL.neutral())
    flat = {name: places[NAMES.index(name)] * [0, 1, 1] for name in names}
    plain = replace(
        MODEL,
        markers=tuple(
            replace(m, position=m.position - [places[NAMES.index(m.name)][0], 0, 0]) for m in kept
        ),
    )
    points = np.array([flat[marker.name] for marker in kept])
    trial, _ = unlabeled(tuple(m.name for m in kept), points, seed=3)
    with pytest.raises(CaptureError, match="in two ways"):
        match_geometry(plain, trial)


def test_points_of_no_person_are_refused():
    cloud = np.random.default_rng(4).normal(size=(1, 30, 3))
    trial = Trial("cloud", tuple(f"*{k}" for k in range(30)), cloud, 100.0)
    with pytest.raises(CaptureError, match=r"does not fit|in two ways"):
        match_geometry(MODEL, trial)
    with pytest.raises(CaptureError, match="6 of each"):
        match_geometry(MODEL, trial.select_markers(("*1", "*2")))
    with pytest.raises(CaptureError, match="no frame 7"):
        match_geometry(MODEL, trial, frame=7)
