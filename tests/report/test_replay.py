"""The replay: what is packed for the browser is where kinematics has it, to a fraction of a mm."""

import base64
import json
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn import dynamics
from homodyn.capture.kinematics import Y_UP_TO_Z_UP
from homodyn.model import Assembly, joints, sphere
from homodyn.report.replay import (
    body_capsules,
    capsule_ends,
    pack_vectors,
    pose_strip,
    replay_data,
    replay_html,
)
from support import strolls

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")


def unpacked(record, shape):
    """What the browser makes of a packed array."""
    steps = np.frombuffer(base64.b64decode(record["data"]), dtype="<i2").astype(float)
    values = np.where(steps == -32768, np.nan, steps * record["scale"])
    return values.reshape(-1, 3) + record["offset"], shape


def test_packing_is_accurate_to_a_fifth_of_a_millimeter_over_ten_meters():
    rng = np.random.default_rng(4)
    points = rng.uniform(-5, 5, (200, 7, 3))
    points[10:20, 3] = np.nan
    found, _ = unpacked(pack_vectors(points), points.shape)
    np.testing.assert_allclose(found.reshape(points.shape), points, atol=2e-4)


def test_packing_of_missing_values_only():
    found, _ = unpacked(pack_vectors(np.full((4, 3), np.nan)), (4, 3))
    assert np.isnan(found).all()


def test_capsules_move_with_their_bodies():
    model = hd.catalog.heiman()
    q = model.random(seed=6, size=3)
    ends = capsule_ends(model, q)
    for k, stick in enumerate(body_capsules(model)):
        expected = dynamics.position(model, q, stick.body, stick.start)
        np.testing.assert_allclose(ends[:, k, 0], expected, atol=1e-12)


def test_a_model_without_capsules_has_bones(shared_data):
    model = hd.load(shared_data / "gait10dof" / "subject01.osim", as_measured=True)
    shanks = [stick for stick in body_capsules(model) if stick.body == "tibia_r"]
    assert len(shanks) == 1
    assert shanks[0].side == "right"
    ankle = dynamics.position(model, model.neutral(), "talus_r")
    ends = capsule_ends(model, model.neutral()[None])[0, body_capsules(model).index(shanks[0])]
    np.testing.assert_allclose(ends[1], ankle, atol=1e-9)


def test_the_replay_has_the_recorded_markers_at_most_fifty_times_a_second():
    motion = strolls.fitted()
    data = replay_data(motion)
    assert data["rate"] == pytest.approx(50)
    frames = len(motion.time[::2])
    assert data["frames"] == frames
    measured, _ = unpacked(data["markers"]["measured"], None)
    np.testing.assert_allclose(
        measured.reshape(frames, -1, 3), motion.measured[::2], atol=2e-4, equal_nan=True
    )
    json.dumps(data, allow_nan=False)


def test_segments_without_markers_are_faint_and_the_center_of_mass_is_not_drawn():
    motion = strolls.fitted()
    data = replay_data(motion)
    assert data["com_known"]
    assert not any(data["segments"]["unseen"])
    assert "center of mass" in replay_html(data, "")
    below = ("Thigh", "Shank", "Foot")
    legs = [m.name for m in motion.model.markers if m.body.startswith(below)]
    hidden = tuple(c for c in motion.model.coordinate_names if c[:3] in ("Hip", "Kne", "Ank"))
    measured = np.array(motion.measured)
    measured[:, [k for k, name in enumerate(motion.markers) if name in legs]] = np.nan
    trunk = replace(motion, measured=measured, unobserved=hidden)
    data = replay_data(trunk)
    assert not data["com_known"]
    unseen = {
        capsule.body
        for capsule, faint in zip(
            body_capsules(trunk.model), data["segments"]["unseen"], strict=True
        )
        if faint
    }
    assert {"ShankRight", "FootLeft"} <= unseen
    assert not unseen & {"Pelvis", "UpperTrunk"}
    page = replay_html(data, "")
    assert "center of mass" not in page.split("<script")[0]
    assert "their pose is not known" in page
    assert 'class="limb right unseen"' in pose_strip(trunk, poses=3)


def test_a_model_with_y_up_is_shown_standing(shared_data):
    model = hd.load(shared_data / "gait10dof" / "subject01.osim", as_measured=True)
    q = np.tile(model.neutral(), (3, 1))
    still = np.zeros((3, model.nv))
    data = replay_data(hd.motion.Motion(model, np.arange(3) / 10, q, still, still))
    ends, _ = unpacked(data["segments"]["ends"], None)
    world = capsule_ends(model, q).reshape(-1, 3) @ Y_UP_TO_Z_UP.T
    np.testing.assert_allclose(ends, world, atol=2e-4)
    assert np.ptp(ends[:, 2]) > 1.0


def test_the_pose_strip_shows_every_capsule_at_every_instant():
    motion = strolls.fitted()
    drawn = pose_strip(motion, poses=5)
    assert drawn.count('class="limb') == 5 * len(body_capsules(motion.model))


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium to look at a page with")
def test_a_browser_draws_the_body(html, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(html, encoding="utf-8")
    screenshot = tmp_path / "page.png"
    ran = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-component-update",
            "--no-first-run",
            "--hide-scrollbars",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--virtual-time-budget=2000",
            f"--screenshot={screenshot}",
            "--window-size=1200,1400",
            file.as_uri(),
        ],
        capture_output=True,
        timeout=120,
        check=False,
    )
    if not screenshot.exists():
        pytest.skip(f"chromium does not run here: {ran.stderr[-200:]!r}")
    from matplotlib.image import imread

    pixels = imread(screenshot)[..., :3]

    def near(color):
        target = np.array([int(color[k : k + 2], 16) for k in (0, 2, 4)]) / 255
        return (np.abs(pixels - target).max(-1) < 0.09).sum()

    # Lit sides of capsules of the right and of the left leg; nothing else has so much of them.
    assert near("da8876") > 1500
    assert near("75a1cd") > 700


def test_bodies_without_bones_are_drawn_by_their_contact_shapes():
    shapes = {
        "ball": {"kind": "sphere", "radius": 0.1},
        "brick": {"kind": "box", "size": (0.6, 0.4, 0.2)},
        "pill": {"kind": "capsule", "radius": 0.05, "size": (0.6, 0.0, 0.0)},
    }
    assembly = Assembly("things").add(sphere("plain", 1.0, 0.1), joints.free())
    for name, shape in shapes.items():
        assembly = assembly.add(sphere(name, 1.0, 0.1), joints.free()).contact(
            f"{name} skin", name, **shape
        )
    drawn = body_capsules(assembly.model())
    assert [sum(stick.body == name for stick in drawn) for name in ("plain", *shapes)] == [
        0,
        1,
        12,
        1,
    ]
    by_name = {stick.body: stick for stick in drawn}
    assert by_name["ball"].radius == pytest.approx(0.1)
    np.testing.assert_allclose(by_name["pill"].end - by_name["pill"].start, [0.6, 0, 0], atol=1e-12)
    bare = Assembly("bare").add(sphere("plain", 1.0, 0.1), joints.free()).model()
    (only,) = body_capsules(bare)
    assert only.radius == pytest.approx((3 / (4 * np.pi * 1000)) ** (1 / 3))
