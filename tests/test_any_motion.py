"""What works on one motion works on all: recorded, simulated, optimized, synthetic, of a network.

Gait measures, balance margins, the report, the studio and every exporter take the same record and
give numbers that are known or can be checked, whatever computed the motion.
"""

import json
import re
import zipfile
from io import BytesIO
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest

import homodyn as hd
from homodyn.analysis.result_tables import write_loads, write_motion
from homodyn.errors import CaptureError
from homodyn.gait import synthesis
from homodyn.motion import Loads, MotionSource
from homodyn.report.replay import pose_strip, replay_data
from homodyn.report.vrml import vrml_text
from homodyn.simulate import PD, SimulationOptions
from homodyn.studio import Actor, Session, StudioDocument
from homodyn.studio.export import EXPORTS, replay
from homodyn.studio.plot_signals import plot_signals, signal_curves
from homodyn.studio.session_store import SessionWriter, read_session
from support.optimal import jump

SPEED = 1.2
"""m/s, of the synthetic walk."""
STANDING = """
require "ground.cdn"
integrator { method = "runge-kutta" }
body "person" from "catalog:heiman" { node "Pelvis_TZ" { q0 = %.6f } }
node "person" | children | "contacts" | children | nodes : ground.soft {}
"""
WALKS = ("recorded", "optimized", "synthetic")
STANDS = ("simulated", "network")
ALL = (*WALKS, *STANDS)


@pytest.fixture(scope="module")
def trial():
    return hd.synthetic.walking_trial(speed=SPEED, strides=3, seed=4)


def recorded(trial):
    return hd.capture.inverse_kinematics(trial.model, trial.trial)


def synthetic(trial):
    return trial.truth.motion


def optimized(trial):
    model = hd.gait.walking_model()
    return synthesis.stride_motion(model, hd.gait.stored_steps()["mixed free"], steps=5)


def simulated(trial):
    model = hd.catalog.heiman()
    start = hd.simulate.place_on_ground(model, model.neutral())
    options = SimulationOptions(record_interval=0.01, compiled=False)
    servos = PD(300.0, 30.0, start, stable=True)
    return hd.simulate.run(model, start, None, 0.4, 0.002, actuation=servos, options=options).motion


def network(trial):
    model = hd.catalog.heiman()
    start = hd.simulate.place_on_ground(model, model.neutral())
    height = start[model.coordinate_index("Pelvis_TZ")] - 0.002
    net = hd.network.parse(STANDING % height)
    return net.run(0.1, 0.001, tier="interpreted").motion("person")


@pytest.fixture(scope="module")
def motions(trial):
    makers = (recorded, optimized, synthetic, simulated, network)
    return {maker.__name__: maker(trial) for maker in makers}


@pytest.fixture
def motion(request, motions):
    return motions[request.param]


every = pytest.mark.parametrize("motion", ALL, indirect=True)


def test_each_says_where_it_comes_from(motions):
    assert {name: motion.source for name, motion in motions.items()} == {
        "recorded": MotionSource.RECORDED,
        "optimized": MotionSource.OPTIMIZED,
        "synthetic": MotionSource.SYNTHETIC,
        "simulated": MotionSource.SIMULATED,
        "network": MotionSource.NETWORK,
    }


# -- gait


@pytest.mark.parametrize("name", WALKS)
def test_a_walk_has_the_measures_of_its_steps(name, motions, trial):
    step = hd.gait.stored_steps()["mixed free"]
    speed = step.speed if name == "optimized" else SPEED
    length = step.parameters["length"] if name == "optimized" else trial.walk.steps.step_length
    found = hd.gait.measures(motions[name])
    assert found["velocity"].mean == pytest.approx(speed, rel=0.02)
    for side in ("left", "right"):
        assert found["step length", side].mean == pytest.approx(length, rel=0.04)
        assert found["stride duration", side].mean == pytest.approx(2 * length / speed, rel=0.03)
    assert abs(found["symmetry index of step length"].mean) < 5.0


def test_ground_forces_of_a_motion_have_peaks(motions):
    found = hd.gait.measures(motions["optimized"])
    assert 1.0 < found["peak vertical force", "left"].mean < 4.0


@pytest.mark.parametrize("name", STANDS)
def test_a_motion_without_steps_answers_with_reasons(name, motions):
    found = hd.gait.measures(motions[name])
    missing = {(measure.name, measure.side): measure.reason for measure in found.missing}
    assert missing["stride length", "left"].startswith("no two strikes of the left foot")
    assert missing["velocity", "both"] == "the recording has no whole stride"
    assert not found.rows
    with pytest.raises(CaptureError, match=r"step length \(right\) is missing: no strike"):
        found["step length", "right"]


def test_a_model_without_legs_answers_with_the_same_measures(motions):
    hop = jump(4).solve().motion
    found = hd.gait.measures(hop)
    assert not found.rows
    assert "'hopper' has no recognizable left and right foot" in found.missing[0].reason
    assert "no recognizable left and right foot" in found.summary()
    walk = hd.gait.measures(motions["recorded"])
    known = {(m.name, m.side) for m in (*walk.rows, *walk.missing)}
    assert {(m.name, m.side) for m in found.missing} == known


# -- balance


@every
def test_balance_margins(motion):
    found = hd.balance.margins(motion)
    assert len(found.time) == motion.frames
    assert found.evaluated.any()
    weight = motion.model.mass * 9.81
    largest = found.force[found.evaluated].max()
    assert 10.0 < largest < weight  # N: a push of this size, but not the weight, is borne


def test_a_person_held_upright_stays_in_balance(motions):
    found = hd.balance.margins(motions["simulated"])
    assert found.balanced_share == 1.0
    for name in ("force", "moment", "wrench", "side"):
        assert np.isfinite(getattr(found, name)).all()
    assert "not finite" not in found.summary()


# -- report


@every
def test_the_report(motion, tmp_path):
    path = hd.report.write(tmp_path / "report.html", motion)
    page = path.read_text("utf-8")
    assert f"{motion.source} motion" in page
    text = re.sub(r"<[^>]*>", " ", page.split("<main>")[1])
    figures = set(pairwise(text.split()))
    assert (f"{motion.duration:.2f}", "s") in figures
    assert (f"{motion.model.mass:.1f}", "kg") in figures
    has_loads = bool(motion.tau.size)
    assert ("This motion has no torques and ground forces." in page) is not has_loads
    if motion.contact_forces:
        assert f"of the {motion.source} motion" in page


# -- studio


@every
def test_the_studio_shows_stores_and_restores_it(motion, tmp_path):
    session = Session()
    session.change("add", lambda d: d.with_actor(Actor.from_motion(motion, "body")))
    document = session.document
    np.testing.assert_array_equal(document.time, motion.time)
    np.testing.assert_array_equal(document.actor.position(motion.time[3]), motion.q[3])
    signals = plot_signals(document)
    knee_angle = next(
        s for s in signals if s.kind == "coordinate" and s.coordinates == ("KneeRight_RY",)
    )
    (curve,) = signal_curves(document, knee_angle)
    knee = motion.model.coordinate_index("KneeRight_RY")
    np.testing.assert_allclose(np.abs(curve.values), np.abs(np.rad2deg(motion.q[:, knee])))
    forces = [signal for signal in signals if signal.kind == "ground force"]
    assert bool(forces) is bool(motion.tau.size and motion.contact_forces)

    assert SessionWriter(tmp_path / "session").write(document) == []
    restored = read_session(tmp_path / "session").actor
    np.testing.assert_allclose(restored.motion.q, motion.q, atol=1e-7)
    assert [e.label for e in restored.events] == [e.label for e in motion.events]
    if motion.tau.size:
        np.testing.assert_allclose(restored.loads.tau, motion.tau, rtol=1e-7, atol=1e-7)
        assert [f.body for f in restored.loads.feet] == [f.body for f in motion.contact_forces]


@every
def test_every_file_of_the_studio_can_be_saved(motion):
    actor = StudioDocument().with_actor(Actor.from_motion(motion, "body")).actor
    written = {title: export(actor) for title, export in EXPORTS.items()}
    names = {file.name for file in written.values()}
    assert {"body.toml", "body.lua", "body_motion.csv", "body_motion.mot", "body.zip"} <= names
    rows = written["Motion (.csv)"].content.decode().splitlines()
    assert len(rows) == motion.frames + 1
    first = np.array([float(cell) for cell in rows[1].split(",")])
    np.testing.assert_allclose(first[1 : 1 + motion.model.nq], motion.q[0], atol=1e-8)
    with zipfile.ZipFile(BytesIO(written["Result folder (.zip)"].content)) as archive:
        files = {name.rpartition("/")[2] for name in archive.namelist()}
    assert ("torques.csv" in files) is bool(motion.tau.size)
    assert b"<canvas" in replay(actor).content


# -- exporters


@every
def test_tables_read_back_as_the_same_motion(motion, tmp_path):
    write_motion(motion, motion.events, tmp_path)
    table = hd.capture.read_table(tmp_path / "motion.mot")
    again = hd.capture.motion_from_table(motion.model, table)
    np.testing.assert_allclose(again.time, motion.time, atol=1e-8)
    np.testing.assert_allclose(again.q, motion.q, atol=1e-6)
    events = (tmp_path / "events.csv").read_text().splitlines()
    assert len(events) == 1 + len(motion.events)
    for suffix in (".sto", ".csv"):
        hd.capture.write_table(table, tmp_path / f"again{suffix}")
        same = hd.capture.read_table(tmp_path / f"again{suffix}")
        np.testing.assert_allclose(same.values, table.values, atol=1e-6)


@every
def test_torques_and_forces_are_written_where_they_are_known(motion, tmp_path):
    if not motion.tau.size:
        with pytest.raises(hd.HomodynError, match="has no torques"):
            Loads.from_motion(motion)
        return
    write_loads(Loads.from_motion(motion), tmp_path)
    torques = hd.capture.read_table(tmp_path / "torques.sto")
    np.testing.assert_allclose(torques.values, motion.tau, atol=1e-6)
    forces = hd.capture.read_table(tmp_path / "forces.csv")
    for force in motion.contact_forces:
        names = [f"{force.body} force {axis} (N)" for axis in "xyz"]
        np.testing.assert_allclose(forces.select(names), force.force, rtol=1e-7, atol=1e-6)


@every
def test_vrml_plays_for_as_long_as_the_motion(motion):
    text = vrml_text(motion)
    assert text.startswith("#VRML V2.0 utf8")
    length = float(re.search(r"cycleInterval ([\d.e+-]+)", text)[1])
    assert length == pytest.approx(motion.duration, abs=2 / motion.rate)
    for body in ("ThighRight", "FootLeft"):
        assert re.search(rf"DEF \w*{body}\w* ", text)


@every
def test_the_replay_has_all_frames_and_forces(motion):
    loads = Loads.from_motion(motion) if motion.tau.size else None
    data = replay_data(motion, loads, motion.events)
    json.dumps(data, allow_nan=False)
    assert data["feet"] if motion.tau.size and motion.contact_forces else not data["feet"]
    assert len(data["events"]) == len(motion.events)


@every
def test_drawings_and_data_frames(motion, tmp_path):
    strip = pose_strip(motion)
    assert strip.count("<svg") == 1
    figure = hd.report.draw_model(motion.model, motion.q[-1])
    hd.report.save_figure(figure, tmp_path / "pose.png")
    assert (tmp_path / "pose.png").stat().st_size > 5_000
    plt.close("all")
    frame = motion.to_pandas()
    assert frame.shape == (motion.frames, motion.model.nq)
    np.testing.assert_array_equal(frame["KneeLeft_RY (rad)"], motion["KneeLeft_RY"].values)
    axes = motion["right knee flexion"].plot()
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), motion.time)
    plt.close("all")
