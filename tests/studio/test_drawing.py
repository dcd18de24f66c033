"""Points, curves, arrows and polygons that the scene draws, against slow ways to the same."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from homodyn import catalog, dynamics
from homodyn.motion import (
    ContactForce,
    Event,
    ForcePlate,
    Loads,
    Motion,
)
from homodyn.report.posed_geometry import geometry_at_pose
from homodyn.studio import Actor, StudioDocument
from homodyn.studio.body_geometry import body_geometry
from homodyn.studio.file_opening import from_catalog
from homodyn.studio.force_arrows import contact_arrows, plate_arrows
from homodyn.studio.meshes import along, ball, bead, cylinder, dome, towards
from homodyn.studio.panels.plots import on_common_times, value_range, with_cursor
from homodyn.studio.plot_signals import (
    SIGNAL_KINDS,
    PlotCurve,
    curves,
    signal_names,
    thin_curve,
    unit_of,
)
from homodyn.studio.scene.body import plumb_line
from homodyn.studio.support_polygon import support_polygon
from homodyn.studio.timeline import event_code, phase_strip, slider_marks


@pytest.mark.parametrize("entry", [entry.name for entry in catalog.entries()])
def test_all_points_of_a_figure_are_where_a_slow_drawing_has_them(entry):
    model = catalog.build(entry)
    q = model.random(7, 3)
    poses = body_geometry(model).poses(q)
    for row in range(3):
        slow = geometry_at_pose(model, q[row])
        np.testing.assert_allclose(poses.com[row], slow.com, atol=1e-5)
        np.testing.assert_allclose(poses.joints[row], list(slow.joints.values()), atol=1e-5)
        np.testing.assert_allclose(poses.markers[row], list(slow.markers.values()), atol=1e-5)
        solids = [end for solid in slow.capsules for end in (solid.start, solid.end)]
        np.testing.assert_allclose(poses.caps[row][: len(solids)], solids, atol=1e-5)


def test_a_world_with_y_up_is_turned_to_ours():
    turned = replace(catalog.heiman(), gravity=np.array([0.0, -9.81, 0.0]))
    q = turned.random(1)
    x, y, z = dynamics.center_of_mass(turned, q)
    np.testing.assert_allclose(body_geometry(turned).poses(q).com[0], [x, -z, y], atol=1e-5)


def test_cylinders_lie_along_what_they_stand_for():
    rng = np.random.default_rng(0)
    vectors = np.vstack([rng.standard_normal((50, 3)), [[0, 0, -1.0], [0, 0, 2.0], [0, 0, 0]]])
    axes = Rotation.from_quat(along(vectors), scalar_first=True).apply([0.0, 0.0, 1.0])
    np.testing.assert_allclose(np.cross(axes, vectors), 0.0, atol=1e-9)
    ways = Rotation.from_quat(towards(vectors), scalar_first=True).apply([0.0, 0.0, 1.0])
    np.testing.assert_allclose(
        ways[:-1], vectors[:-1] / np.linalg.norm(vectors[:-1], axis=1)[:, None]
    )


def test_domes_close_both_ends_of_solid_parts_also_of_those_without_length():
    figure_ = body_geometry(catalog.heiman())
    poses = figure_.poses(catalog.heiman().random(3, 2))
    ends = poses.ends.copy()
    ends[1, 0, 1] = ends[1, 0, 0]
    turned = Rotation.from_quat(replace(poses, ends=ends).domes(1), scalar_first=True)
    out = turned.apply([0.0, 0.0, 1.0]).reshape(-1, 2, 3)
    np.testing.assert_allclose(out[:, 0], -out[:, 1], atol=1e-6)
    along_parts = ends[1, 1:, 1] - ends[1, 1:, 0]
    assert (np.einsum("ij,ij->i", out[1:, 1], along_parts) > 0).all()


@pytest.mark.parametrize("mesh", [ball(), cylinder(), dome(), bead()])
def test_meshes_look_outwards(mesh):
    corners, faces = mesh
    a, b, c = (corners[faces[:, k]].astype(float) for k in range(3))
    normals = np.cross(b - a, c - a)
    middle = (a + b + c) / 3
    if np.ptp(corners[:, 2]) == 1.0:
        middle = middle * [1.0, 1.0, 0.0]
    assert (np.einsum("ij,ij->i", normals, middle) > 0).all()


def walker(frames=101) -> Actor:
    model = catalog.heiman()
    q = np.tile(model.neutral(), (frames, 1))
    knee = model.coordinate_index("KneeLeft_RY")
    q[:, knee] = np.linspace(0.0, 1.0, frames)
    v = np.zeros((frames, model.nv))
    v[:, knee] = 2.0
    time = np.arange(frames) / 100
    residual = np.full((frames, 2), [0.003, 0.004])
    motion = Motion(model, time, q, v, 0 * v, ("LKNE", "RKNE"), residual=residual)
    force = np.tile([0.0, 0.0, 400.0], (frames, 1))
    foot = ContactForce("FootLeft", "left", force, np.tile([0.1, 0.2, 0.0], (frames, 1)), 0 * force)
    tau = np.full((frames, model.nv), 3.0)
    loads = Loads(motion, tau, tuple(range(6)), 0 * force, 0 * force, (foot,), tau * v)
    return Actor("walker", model, q[0], motion, loads)


def test_every_kind_of_curve_has_its_values_and_unit():
    document = StudioDocument().with_actor(walker())
    expected = {
        ("coordinate", "KneeLeft_RY"): ("deg", np.degrees(1.0)),
        ("coordinate", "Pelvis_TX"): ("m", 0.0),
        ("torque", "KneeLeft_RY"): ("N m", 3.0),
        ("torque", "Pelvis_TX"): ("N", 3.0),
        ("ground force", "FootLeft z"): ("N", 400.0),
        ("ground force", "FootLeft size"): ("N", 400.0),
        ("power", "KneeLeft_RY"): ("W", 6.0),
        ("marker error", "RKNE"): ("mm", 4.0),
        ("marker error", "all, root mean square"): ("mm", np.sqrt(12.5)),
    }
    assert {kind for kind, _ in expected} == set(SIGNAL_KINDS)
    for (kind, name), (unit, last) in expected.items():
        assert name in signal_names(document, kind)
        (curve,) = curves(document, kind, name)
        assert curve.values[-1] == pytest.approx(last)
        assert unit_of(document, kind, name) == unit


def test_a_thinned_curve_keeps_its_peaks():
    time = np.linspace(0, 10, 10_001)
    values = np.sin(time)
    values[4321] = 9.0
    values[100:200] = np.nan
    thin = thin_curve(PlotCurve("x", (0, 0, 0), time, values))
    assert len(thin.time) <= 610
    assert np.nanmax(thin.values) == 9.0
    assert (thin.time[0], thin.time[-1]) == (0.0, 10.0)
    assert (np.diff(thin.time) > 0).all()


def test_the_cursor_is_an_upright_line_and_leaves_the_curves():
    table = on_common_times([PlotCurve("x", (0, 0, 0), np.arange(5.0), np.arange(5.0) ** 2)])
    time, values, mark = with_cursor(table, 2.5)
    at = np.flatnonzero(time == 2.5)
    low, high = value_range(table)
    assert mark[at[1]] == high
    assert (np.delete(mark, at[1]) < low).all()
    np.testing.assert_allclose(values[at], 6.5)
    np.testing.assert_array_equal(np.delete(values, at), table[1])


def test_forces_are_drawn_where_they_act_and_as_long_as_they_are_strong():
    actor = walker()
    (arrow,) = contact_arrows(actor, body_geometry(actor.model), 0.5)
    weight = actor.model.mass * 9.81
    np.testing.assert_allclose(arrow[0], [0.1, 0.2, 0.0])
    np.testing.assert_allclose(arrow[1] - arrow[0], [0, 0, 0.7 * 400 / weight])
    assert len(contact_arrows(actor.with_pose(actor.q), body_geometry(actor.model), 0.5)) == 0
    force = np.array([[0.0, 0.0, 700.0], [0.0, 0.0, 1.0]])
    plate = ForcePlate("p", 10.0, force, np.zeros((2, 3)), np.zeros((2, 3)))
    assert len(plate_arrows((plate,), 0.0, 700.0)) == 1
    assert len(plate_arrows((plate,), 0.1, 700.0)) == 0


def test_a_standing_body_has_its_centre_of_mass_over_its_support():
    actor = from_catalog("heiman")
    shape = body_geometry(actor.model)
    poses = shape.poses(actor.q)
    corners = support_polygon(shape, poses.touching[0], None)
    assert len(corners) >= 4
    low, high = corners.min(axis=0), corners.max(axis=0)
    assert (low < poses.com[0][:2]).all()
    assert (poses.com[0][:2] < high).all()
    one = support_polygon(shape, poses.touching[0], {"FootLeft"})
    assert one[:, 1].min() > 0
    assert len(support_polygon(shape, poses.touching[0] + [0, 0, 0.3], None)) == 0


def test_a_plumb_line_leads_from_the_centre_of_mass_to_the_ground():
    down, *cross = plumb_line(np.array([0.3, 0.1, 0.9]))
    np.testing.assert_allclose(down, [[0.3, 0.1, 0.9], [0.3, 0.1, 0.01]])
    np.testing.assert_allclose(np.mean(cross, axis=1), [[0.3, 0.1, 0.01]] * 2)


def test_the_time_line_marks_events_and_phases():
    events = (
        Event(0.2, "Foot Strike", "Left"),
        Event(0.8, "Foot Off", "Left"),
        Event(5.0, "Foot Off", "Right"),
    )
    time = np.arange(101) / 100
    assert slider_marks(events, time) == ((20, "LS"), (80, "LO"))
    assert event_code(Event(0.0, "Clap")) == "Cl"
    picture = phase_strip(events, time)
    assert 'x="20.000%"' in picture
    assert 'width="60.000%"' in picture
    assert phase_strip((), time) == ""
