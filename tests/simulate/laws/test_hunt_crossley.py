"""Hunt-Crossley contact: closed forms, and forces of OpenSim for the same file and state."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.simulate import HuntCrossleyContact, osim_contact, run
from support.osim_contacts import hunt_crossley_file, smooth_file
from support.rigid_bodies import ball, box


def forces_at(model, law, geometry, q, v):
    """Force (N) and moment about the origin of the world (N m) of every gap."""
    x, u = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv)
    found = law.forces(geometry, Tree(model, x, u), ca.SX(0, 1), {})
    rows = [
        ca.vertcat(f, ca.cross(gap.point, f))
        for gap, f in zip(found.gaps, found.forces, strict=True)
    ]
    function = ca.Function("forces", [x, u], [ca.horzcat(*rows).T])
    return np.array(function(q, v))


def random_states(model, count, q, spread, seed):
    rng = np.random.default_rng(seed)
    return [
        (q + spread * rng.normal(size=model.nq), rng.normal(size=model.nv)) for _ in range(count)
    ]


def opensim_forces(path, model, states, tmp_path, names):
    """Forces and moments on the spheres by OpenSim (about the origin of the ground)."""
    if importlib.util.find_spec("opensim") is None:
        pytest.skip("opensim is not installed")
    given = [
        {
            "q": dict(zip(model.coordinate_names, map(float, q), strict=True)),
            "v": dict(zip(model.coordinate_names, map(float, v), strict=True)),
        }
        for q, v in states
    ]
    (tmp_path / "states.json").write_text(json.dumps(given), encoding="utf-8")
    script = Path(__file__).with_name("opensim_contact_peer.py")
    command = [sys.executable, "-I", str(script), str(path), str(tmp_path / "states.json")]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    rows = json.loads(answer.stdout.splitlines()[-1])
    parts = [f"{what}.{axis}" for what in ("force", "torque") for axis in "XYZ"]
    return np.array(
        [[[-row[f"{name}.HalfSpace.{part}"] for part in parts] for name in names] for row in rows]
    )


@pytest.mark.parametrize("write", [hunt_crossley_file, smooth_file])
def test_forces_of_a_sphere_are_those_of_opensim(write, tmp_path):
    path = write(tmp_path / "ball.osim")
    model = hd.load(path)
    law, geometry = osim_contact(model, path)
    assert geometry.names == ("skin",)
    q = np.array([0.1, 0.2, -0.1, 0.3, 0.13, -0.2])
    states = random_states(model, 8, q, 0.02, seed=1)
    expected = opensim_forces(path, model, states, tmp_path, ["force"])
    ours = np.array([forces_at(model, law, geometry, *state) for state in states])
    assert np.abs(expected[:, 0, 1]).max() > 50
    # A sphere above the ground has no force, or the tail of the smooth one.
    np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-9)


def test_feet_of_a_published_model_are_those_of_opensim(shared_data, tmp_path):
    path = shared_data / "arnold2013" / "subject01" / "subject01.osim"
    model = hd.load(path)
    law, geometry = osim_contact(model, path)
    assert law.smooth
    assert len(geometry.names) == 12
    assert law.stiffness["heel_r"] == 3067776
    q = hd.simulate.place_on_ground(model, model.neutral(), -0.008, scene=geometry)
    rng = np.random.default_rng(2)
    states = [(q, 0.3 * rng.normal(size=model.nv)) for _ in range(3)]
    names = ["contact" + shape[0].upper() + shape[1:] for shape in (n for n in geometry.contacts)]
    expected = opensim_forces(path, model, states, tmp_path, names)
    ours = np.array([forces_at(model, law, geometry, *state) for state in states])
    assert expected[:, :, 1].sum(axis=1).max() > 500
    np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-6)


def test_a_ball_comes_to_rest_at_the_indentation_of_hertz():
    model = ball(radius=0.1, mass=2.0)
    q = model.neutral()
    q[2] = 0.1
    law = HuntCrossleyContact(stiffness=1e6, dissipation=5.0)
    result = run(model, q, None, 0.6, 1e-4, contact=law, record_interval=0.01)
    k = 0.5 * 1e6 ** (2 / 3)
    depth = (2.0 * 9.81 / (4 / 3 * k * np.sqrt(0.1 * k))) ** (2 / 3)
    assert 0.1 - result.q[-1, 2] == pytest.approx(depth, rel=1e-3)
    assert result.energy.contacts[-1] < 0


def test_a_tensile_force_and_a_force_without_overlap_are_zero():
    model = ball()
    geometry = hd.simulate.ContactGeometry(model)
    law = HuntCrossleyContact(dissipation=2.0)
    q = model.neutral()
    q[2] = 0.099
    away = np.array([0, 0, 1.0, 0, 0, 0])
    assert forces_at(model, law, geometry, q, away)[0, 2] == 0  # faster than 2 / (3 c)
    assert forces_at(model, law, geometry, q, -away)[0, 2] > 0
    q[2] = 0.101
    assert not forces_at(model, law, geometry, q, -away).any()


def test_files_and_shapes_that_do_not_fit_are_refused(tmp_path):
    path = hunt_crossley_file(tmp_path / "ball.osim")
    with pytest.raises(ModelError, match="no contact sphere 'skin'"):
        osim_contact(ball(), path)
    none = path.read_text(encoding="utf-8").replace("HuntCrossleyForce", "ElasticFoundationForce")
    (tmp_path / "none.osim").write_text(none, encoding="utf-8")
    with pytest.raises(ModelError, match="has no SmoothSphere"):
        osim_contact(hd.load(path), tmp_path / "none.osim")
    twice = path.read_text(encoding="utf-8").replace("skin floor", "skin skin floor")
    (tmp_path / "twice.osim").write_text(twice, encoding="utf-8")
    with pytest.raises(ModelError, match="several contact forces"):
        osim_contact(hd.load(path), tmp_path / "twice.osim")
    with pytest.raises(ModelError, match="is for spheres"):
        run(box(), box().neutral(), None, 0.01, 1e-3, contact=HuntCrossleyContact())
