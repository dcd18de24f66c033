"""Faults of paths name muscle and frame."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.model.muscles import PathWrap, WrapObject
from homodyn.muscle import PathFaultKind, find_path_faults
from homodyn.muscle.path_faults import check_moved, path_fault_sentence, point_depths
from homodyn.spatial import Transform
from support import muscled_leg

STATES = np.array([[0.0, 0.0], [0.0, 0.5], [0.0, 1.0]])


@pytest.fixture(scope="module")
def leg():
    return muscled_leg.build()


def with_muscle(leg, **changes):
    """The vastus alone, with changes."""
    vastus = next(m for m in leg.muscles if m.name == "vastus")
    return replace(leg, muscles=(replace(vastus, **changes),))


def faults(model, q=STATES):
    return {fault.kind: fault for fault in find_path_faults(model, q)}


def test_a_sound_model_has_none(leg):
    assert find_path_faults(leg, STATES) == ()
    assert path_fault_sentence(()) == "no path of a muscle has a fault"


def test_a_tendon_longer_than_the_path_names_the_first_frame(leg):
    lengths = hd.muscle.lengths(with_muscle(leg), STATES)[:, 0]
    slack = (lengths[0] + lengths[1]) / 2
    fault = faults(with_muscle(leg, tendon_slack_length=slack))[PathFaultKind.SLACK_TENDON]
    short = lengths <= slack
    assert (fault.muscle, fault.frames) == ("vastus", short.sum())
    assert fault.frame == np.argmax(short)
    assert "the path of muscle 'vastus' is not longer than its tendon of" in fault.sentence
    assert f"frame {fault.frame}" in fault.sentence


def test_a_path_without_length_and_one_that_nothing_moves(leg):
    point = with_muscle(leg).muscles[0].points[0]
    model = with_muscle(leg, points=(point, replace(point, name="again")))
    found = faults(model)
    assert set(found) == {
        PathFaultKind.NOT_MOVED, PathFaultKind.ZERO_LENGTH, PathFaultKind.SLACK_TENDON
    }  # fmt: skip
    zero = found[PathFaultKind.ZERO_LENGTH].sentence
    assert zero == "the path of muscle 'vastus' has no length (in 3 frames, first in frame 0)"
    still = found[PathFaultKind.NOT_MOVED]
    assert still.frame == -1
    assert "no coordinate moves it; its points are in thigh" in still.sentence
    with pytest.raises(hd.ModelError, match="'vastus': no coordinate moves it"):
        check_moved(model, "geodesic")
    assert "has no length" in path_fault_sentence(tuple(found.values()))


@pytest.mark.parametrize(
    ("kind", "size", "depth"),
    [
        ("sphere", (0.02,), 0.02),
        ("cylinder", (0.03, 0.05), 0.025),
        ("ellipsoid", (0.03, 0.02, 0.04), 0.02),
        ("torus", (0.01, 0.05), -0.01),
    ],
)
def test_a_point_inside_a_wrap_is_found(leg, kind, size, depth):
    vastus = with_muscle(leg).muscles[0]
    insertion = vastus.points[-1]
    place = Transform(np.eye(3), np.asarray(insertion.position))
    wrap = WrapObject("pad", insertion.body, kind, size, place)
    model = with_muscle(replace(leg, wraps=(wrap,)), wraps=(PathWrap("pad"),))
    found = point_depths(model, STATES)
    np.testing.assert_allclose(found[:, 0], depth, atol=1e-9)
    inside = PathFaultKind.INSIDE_WRAP in faults(model)
    assert inside == (depth > 0)
    # A wrap that does not apply to the insertion has no point inside.
    model = replace(model, muscles=(replace(vastus, wraps=(PathWrap("pad", first=1, last=1),)),))
    assert PathFaultKind.INSIDE_WRAP not in faults(model)
