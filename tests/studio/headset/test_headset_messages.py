import json

import numpy as np
import pytest

import homodyn as hd
from homodyn.studio.body_geometry import body_geometry
from homodyn.studio.headset.headset_messages import body_message, frame_message, parse_head
from homodyn.track.experiments.experiment_run import ShownTarget
from support.live_samples import live_sample

MODEL = hd.catalog.hdm()


def test_shapes_of_the_body():
    data = json.loads(body_message(MODEL))
    count = len(body_geometry(MODEL).capsules)
    assert data["kind"] == "body"
    assert len(data["radii"]) == len(data["lengths"]) == len(data["colors"]) == count
    assert all(0.0 <= x <= 1.0 for color in data["colors"] for x in color)


def test_a_frame_has_the_places_of_the_capsules_and_the_target():
    sample = live_sample(MODEL, 2)
    shown = ShownTarget(
        np.array([0.1, 0.2, 1.3]), 0.05, (1.0, 0.0, 0.0), 440.0, "go", np.zeros((0, 3))
    )
    data = json.loads(frame_message(MODEL, sample, shown, np.array([0.0, 0.0, 1.0]), 0.02))
    ends = body_geometry(MODEL).poses(sample.q).ends[0]
    np.testing.assert_allclose(np.array(data["ends"]).reshape(-1, 2, 3), ends, atol=1e-4)
    assert len(data["forces"]) == 1  # the other foot is in the air
    assert data["target"] == {"position": [0.1, 0.2, 1.3], "radius": 0.05, "color": [1.0, 0.0, 0.0]}
    assert (data["sound_hz"], data["text"]) == (440.0, "go")
    alone = json.loads(frame_message(MODEL, sample, None, np.full(3, np.nan), 0.02))
    assert alone["target"] is None
    assert alone["pointer"] is None


def test_the_place_of_the_head():
    np.testing.assert_array_equal(parse_head('{"head": [0, 1, 1.7]}'), [0.0, 1.0, 1.7])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "[" * 9000,
        '{"head": 3}',
        '{"head": null}',
        '{"head": [1, 2]}',
        '{"head": ["x", 0, 0]}',
        '{"head": [1e9, 0, 0]}',
        '{"head": [NaN, 0, 0]}',
        b"\xff",
    ],
)
def test_other_messages_are_ignored(text):
    assert parse_head(text) is None
