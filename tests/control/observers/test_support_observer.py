"""V35 and V36: the root of Bip from joint angles and foot forces."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import homodyn as hd
from homodyn.control import SupportObserver
from homodyn.dynamics import orientation, position
from homodyn.errors import ModelError
from homodyn.model import Model

BODIES = {"right": "right_foot", "left": "left_foot", "suspension": "cabinet"}
DT = 0.01


@pytest.fixture(scope="module")
def bip() -> Model:
    return hd.catalog.bip()


def tags(model: Model, body: str) -> tuple[str, ...]:
    """Markers of a body that are not on a line."""
    return tuple(marker.name for marker in model.markers if marker.body == body)[:4]


def observer(model: Model, **options: float) -> SupportObserver:
    supports = {name: tags(model, BODIES[name]) for name in ("right", "left")}
    return SupportObserver(model, supports, tags(model, BODIES["suspension"]), **options)


def root_on(
    model: Model, q: np.ndarray, body: str, place: np.ndarray, turn: np.ndarray
) -> np.ndarray:
    """The pose with the same joints and a body at a given pose, by composition of transforms."""
    pelvis = orientation(model, q, "pelvis"), position(model, q, "pelvis")
    foot = orientation(model, q, body), position(model, q, body)
    relative = pelvis[0].T @ foot[0], pelvis[0].T @ (foot[1] - pelvis[1])
    base = turn @ relative[0].T
    start = place - base @ relative[1]
    result = q.copy()
    origin = position(model, model.neutral(), "pelvis") - model.neutral()[:3]
    result[:3] = start - origin
    result[3:6] = Rotation.from_matrix(base).as_euler("ZYX")
    return result


def step_of_the_robot(model: Model) -> list[tuple[np.ndarray, dict[str, float]]]:
    """Hanging, on the right foot, on both and on the left foot, with moving joints."""
    rng = np.random.default_rng(1)
    rates = 0.05 * rng.normal(size=model.nq)
    rates[:6] = 0
    q = model.neutral()
    scene = []
    phases = (
        ("suspension", {}),
        ("suspension", {"right": 500.0}),
        ("right", {"right": 900.0}),
        ("right", {"right": 500.0, "left": 500.0}),
        ("left", {"left": 900.0}),
    )
    for number, (fixed, forces) in enumerate(phases):
        body = BODIES[fixed]
        place, turn = position(model, q, body), orientation(model, q, body)
        # Feet touch at the zero pose, whose places are the first reference. The left foot moves
        # until it is loaded.
        for k in range(1 if number in (1, 3) else 6):
            moving = number not in (0, 1)
            if moving:
                q = root_on(model, q + rates * np.cos(0.3 * k + number), body, place, turn)
            scene.append((q.copy(), forces))
    return scene


def test_v35_the_root_is_recovered_in_suspension_and_supports(bip: Model) -> None:
    watcher = observer(bip)
    used = []
    for q, forces in step_of_the_robot(bip):
        joints = q.copy()
        joints[:6] = np.nan
        estimate = watcher.update(joints, forces, DT)
        np.testing.assert_allclose(estimate.q, q, atol=1e-6)
        assert estimate.error < 1e-9
        used.append(estimate.support)
    assert list(dict.fromkeys(used)) == ["suspension", "right", "left"]


def test_v35_velocities_are_difference_quotients(bip: Model) -> None:
    watcher, before = observer(bip), None
    for q, forces in step_of_the_robot(bip):
        estimate = watcher.update(q, forces, DT)
        expected = 0 * estimate.v if before is None else (estimate.q - before) / DT
        np.testing.assert_allclose(estimate.v, expected, atol=1e-9)
        before = estimate.q


def test_v36_right_then_left_then_suspension_after_two_loaded_calls(bip: Model) -> None:
    q, watcher = bip.neutral(), observer(bip)
    loads = [
        ({}, "suspension"),
        ({"left": 100.0}, "suspension"),
        ({"left": 100.0}, "left"),
        ({"left": 100.0, "right": 100.0}, "left"),
        ({"left": 100.0, "right": 100.0}, "right"),
        ({"left": 100.0}, "left"),
        ({"right": 100.0}, "suspension"),
        ({}, "suspension"),
    ]
    for forces, expected in loads:
        assert watcher.update(q, forces, DT).support == expected


def test_the_threshold_is_a_parameter(bip: Model) -> None:
    q = bip.neutral()
    for threshold, expected in ((400.0, "suspension"), (40.0, "right")):
        watcher = observer(bip, threshold=threshold)
        for _ in range(3):
            estimate = watcher.update(q, {"right": 200.0}, DT)
        assert estimate.support == expected


def test_wrong_sensors_are_refused(bip: Model) -> None:
    q = bip.neutral()
    with pytest.raises(ModelError, match="do not determine the root"):
        SupportObserver(
            bip,
            {"right": tags(bip, "right_foot")[:2]},
            tags(bip, "cabinet"),
        )
    with pytest.raises(ModelError, match="support 'hand'"):
        observer(bip).update(q, {"hand": 1.0}, DT)
    with pytest.raises(ModelError, match="dt"):
        observer(bip).update(q, {}, 0.0)
    q[-1] = np.nan
    with pytest.raises(ModelError, match="finite"):
        observer(bip).update(q, {}, DT)
