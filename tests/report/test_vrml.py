"""The VRML of a motion agrees with the kinematics."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from homodyn import catalog, dynamics
from homodyn.errors import CaptureError
from homodyn.motion import Motion
from homodyn.report.vrml import vrml_text

NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"


def moving(model, frames=5, markers=()):
    rng = np.random.default_rng(3)
    q = np.array([model.random(rng) for _ in range(frames)])
    still = np.zeros((frames, model.nv))
    measured = rng.standard_normal((frames, len(markers), 3))
    return Motion(model, np.arange(frames) / 10, q, still, still, tuple(markers), measured)


def nodes(text):
    """The tree of DEF Transforms: (name, parent), (first translation, first rotation)."""
    found, stack = {}, []
    for token in re.finditer(
        r"(?:DEF (\w+) )?(\w+) \{|\}", re.sub(r"(?m)^#.*$", "", text).split("DEF Clock")[1]
    ):
        if token.group(0) == "}":
            if stack:
                stack.pop()
            continue
        stack.append(token.group(1) if token.group(2) == "Transform" else None)
        if stack[-1]:
            above = [name for name in stack[:-1] if name]
            found[stack[-1]] = above[-1] if above else None
    return found


def interpolated(text, name, width):
    row = re.search(rf"DEF {name} \w+Interpolator {{ key \[ (.*?) \] keyValue \[ (.*?) \]", text)
    if row is None:
        return None
    keys = np.array(row.group(1).split(), dtype=float)
    values = np.array(re.findall(NUMBER, row.group(2)), dtype=float).reshape(-1, width)
    assert len(keys) == len(values)
    return keys, values


def still(text, name):
    row = re.search(rf"DEF {name} Transform {{ translation (.*?) rotation (.*?) children", text)
    return (np.array(row.group(k).split(), dtype=float) for k in (1, 2))


def placed(text, tree, name, frame):
    """Place and rotation of a body at a frame, through all Transforms above it."""
    place, turn = still(text, name)
    if (found := interpolated(text, f"{name}_translation", 3)) is not None:
        place = found[1][frame]
    if (found := interpolated(text, f"{name}_rotation", 4)) is not None:
        turn = found[1][frame]
    rotation = Rotation.from_rotvec(turn[:3] * turn[3])
    if tree[name] is None:
        return place, rotation
    above, about = placed(text, tree, tree[name], frame)
    return above + about.apply(place), about * rotation


@pytest.mark.parametrize("build", [catalog.heiman, catalog.hdm, catalog.khr1])
def test_bodies_are_where_kinematics_puts_them(build):
    model = build()
    motion = moving(model)
    text = vrml_text(motion)
    tree = nodes(text)
    for body in (model.body_names[0], model.body_names[len(model.body_names) // 2]):
        for frame in (0, 3):
            place, rotation = placed(text, tree, re.sub(r"\W", "_", body), frame)
            np.testing.assert_allclose(
                place, dynamics.position(model, motion.q[frame], body), atol=1e-7
            )
            np.testing.assert_allclose(
                rotation.as_matrix(), dynamics.orientation(model, motion.q[frame], body), atol=1e-7
            )


def test_every_interpolator_is_driven_by_the_clock_and_drives_a_node():
    text = vrml_text(moving(catalog.heiman(), markers=("RASI", "LASI")))
    assert text.startswith("#VRML V2.0 utf8\n")
    assert text.count("{") == text.count("}")
    assert text.count("[") == text.count("]")
    names = re.findall(r"DEF (\w+) \w+Interpolator", text)
    assert len(names) == len(set(names)) > 15
    for name in names:
        node, _, field = name.rpartition("_")
        assert f"ROUTE Clock.fraction_changed TO {name}.set_fraction" in text
        assert f"ROUTE {name}.value_changed TO {node}.set_{field}" in text
        assert f"DEF {node} Transform" in text
    keys, _ = interpolated(text, names[0], 3)
    np.testing.assert_allclose(keys, np.linspace(0, 1, 5), atol=1e-9)


def test_markers_that_were_not_seen_have_no_size():
    motion = moving(catalog.heiman(), markers=("A", "B", "C"))
    measured = np.array(motion.measured)
    measured[2, 0] = np.nan
    measured[:, 2] = np.nan
    motion = replace(motion, measured=measured)
    text = vrml_text(motion)
    _, sizes = interpolated(text, "marker_A_scale", 3)
    np.testing.assert_array_equal(sizes[:, 0], [1, 1, 0, 1, 1])
    _, path = interpolated(text, "marker_B_translation", 3)
    np.testing.assert_allclose(path, motion.measured[:, 1], atol=1e-8)
    assert interpolated(text, "marker_B_scale", 3) is None
    assert "marker_C" not in text


def test_rotations_between_frames_take_the_shortest_way():
    model = catalog.heiman()
    motion = moving(model, frames=2)
    _, turns = interpolated(vrml_text(motion), f"{model.body_names[0]}_rotation", 4)
    ends = Rotation.from_rotvec(turns[:, :3] * turns[:, 3:])
    half = Slerp([0, 1], ends)(0.5)
    assert (half.inv() * ends[0]).magnitude() == pytest.approx(
        (ends[1].inv() * ends[0]).magnitude() / 2
    )


def test_a_single_frame_is_refused():
    with pytest.raises(CaptureError, match="one frame"):
        vrml_text(moving(catalog.heiman(), frames=1))
