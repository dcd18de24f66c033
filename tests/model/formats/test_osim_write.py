"""OpenSim reads the models that Homodyn writes, and they move, weigh and pull the same."""

import json
import subprocess
import sys
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import homodyn as hd
from homodyn.dynamics import inverse_dynamics
from homodyn.errors import FormatError
from homodyn.model import Assembly, Model, box, joints
from homodyn.model.coordinate_layout import joint_accelerations, joint_positions, joint_velocities
from homodyn.model.functions import Linear, Polynomial, Spline
from homodyn.model.muscles import Muscle, PathPoint
from homodyn.model.parameters import canonical_text
from support.osim_contacts import hunt_crossley_file, smooth_file

CONTACT_PEER = Path(__file__).parents[2] / "simulate" / "laws" / "opensim_contact_peer.py"
FILES = (
    "gait10dof/subject01.osim",
    "arnold2013/generic/unscaled_generic.osim",
    "arnold2013/subject01/subject01.osim",
    "imu/Rajagopal2015_opensense.osim",
    "rajagopal_walk/subject_walk_scaled.osim",
    "real_subject4/manually_scaled.osim",
    "opensim_id/arm26.osim",
    "opensim_id/subject01.osim",
    "ik_synthetic/subject01_simbody.osim",
)
OLD = FILES[6:]
"""Files before version 4; OpenSim keeps six digits of some of their numbers."""
BODIES = ("bip", "coman", "hdm", "heiman", "human36", "khr1", "manikin", "winter_human")
POSES = 20
EXACT = 1e-12
"""Largest difference of places (m), of lengths (m) and, relative, of generalized forces."""
SHORTENED = 1e-6
ROUNDING = 1e-15
"""Largest change of a number by a round trip; only rotations change."""


def poses(model: Model, count: int = POSES) -> np.ndarray:
    reach = np.clip(np.stack([model.lower, model.upper]), -3, 3)
    return np.random.default_rng(5).uniform(*reach, (count, model.nv))


def by_name(model: Model, parts: list) -> dict[str, float]:
    names = [c.name for joint in model.joints for c in joint.coordinates]
    return dict(zip(names, np.concatenate([np.ravel(p) for p in parts]).tolist(), strict=True))


def differences(a, b, where=""):
    """Paths to what differs between two records beyond rounding."""
    if is_dataclass(a):
        for one in fields(a):
            yield from differences(
                getattr(a, one.name), getattr(b, one.name), f"{where}.{one.name}"
            )
    elif isinstance(a, tuple) and len(a) == len(b):
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from differences(x, y, f"{where}[{getattr(x, 'name', k)}]")
    elif isinstance(a, np.ndarray | float):
        close = np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=0, atol=ROUNDING)
        if not (close or np.array_equal(a, b)):
            yield where
    elif a != b:
        yield where


def comparable(model: Model) -> Model:
    """The model in the order and with the words of a file."""
    order = {name: k for k, name in enumerate(["world", *model.body_names])}
    muscles = []
    for muscle in model.muscles:
        settings = dict(muscle.settings)
        if "isDisabled" in settings:
            settings["appliesForce"] = not settings.pop("isDisabled")
        if muscle.kind == "Thelen2003Muscle" and settings.get("min_control") == 0.0:
            settings["min_control"] = 0.01
        muscles.append(replace(muscle, settings=dict(sorted(settings.items()))))
    return replace(
        model,
        muscles=tuple(muscles),
        # The folder is that of the file, which is written elsewhere.
        meshes=tuple(
            replace(mesh, folder="")
            for mesh in sorted(model.meshes, key=lambda m: (order[m.body], m.file))
        ),
        capsules=tuple(sorted(model.capsules, key=lambda c: c.name)),
        notes=(),
        as_measured=True,
    )


@pytest.mark.parametrize("file", FILES)
def test_a_file_that_is_read_and_written_is_the_same_for_opensim(
    shared_data, opensim, tmp_path, file
):
    path = shared_data / file
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    model = hd.load(path)
    written = tmp_path / "written.osim"
    hd.save(model, written, like=path)
    states = poses(model)
    layout = model.joint_slots
    rng = np.random.default_rng(1)
    named, speeds, accelerations = [], [], []
    for k, q in enumerate(states):
        named.append(by_name(model, joint_positions(layout, q)))
        v, a = rng.uniform(-1, 1, (2, model.nv))
        forces = k < 4
        speeds.append(by_name(model, joint_velocities(layout, q, v)) if forces else None)
        accelerations.append(
            by_name(model, joint_accelerations(layout, q, v, a)) if forces else None
        )
    apart = opensim(
        "differences",
        path=str(path),
        other=str(written),
        poses=named,
        speeds=speeds,
        accelerations=accelerations,
    )
    limit = SHORTENED if file in OLD else EXACT
    assert max(apart.values()) < limit, apart
    theirs, ours = (opensim("muscles", path=str(p)) for p in (path, written))
    assert set(ours) == set(theirs)
    for name, numbers in theirs.items():
        assert ours[name].pop("kind") == numbers.pop("kind")
        assert ours[name] == pytest.approx(numbers, rel=limit)
    assert opensim("about", path=str(written)) == opensim("about", path=str(path))
    again = comparable(hd.load(written))
    assert list(differences(comparable(model), again)) == []


@pytest.mark.parametrize("name", BODIES)
def test_a_body_of_the_catalog_is_the_same_in_opensim(opensim, tmp_path, name):
    model = getattr(hd.catalog, name)()
    path = tmp_path / f"{name}.osim"
    lost = hd.save(model, path)
    again = hd.load(path)
    quaternions = [joint for joint in model.joints if joint.quaternion]
    assert any("quaternion" in sentence for sentence in lost) == bool(quaternions)
    if not quaternions:
        ours = comparable(model)
        back = comparable(again)
        kinds = {joint.name: joint.kind for joint in ours.joints}
        back = replace(
            back,
            joints=tuple(replace(joint, kind=kinds[joint.name]) for joint in back.joints),
        )
        found = list(differences(ours, back))
        limits = (".max_velocity", ".max_force", ".contacts", ".contact_sets", ".friction")
        assert [path for path in found if not path.endswith(limits)] == []
    assert opensim("about", path=str(path))["mass"] == pytest.approx(model.mass, rel=1e-14)
    states = poses(again, 4)
    v, a = np.random.default_rng(2).uniform(-1, 1, (2, len(states), again.nv))
    torques = inverse_dynamics(again, states, v, a)
    for q, v_k, a_k, tau in zip(states, v, a, torques, strict=True):
        values = by_name(again, [q])
        places = opensim("places", path=str(path), values=values)
        for marker in again.markers:
            here = hd.dynamics.position(again, q, marker.name)
            assert_allclose(here, places["markers"][marker.name], atol=EXACT)
        theirs = opensim(
            "torques",
            path=str(path),
            values=values,
            speeds=by_name(again, [v_k]),
            accelerations=by_name(again, [a_k]),
        )
        found = np.array([theirs[c] for c in again.coordinate_names])
        assert np.abs(found - tau).max() < EXACT * np.abs(tau).max()


def test_a_quaternion_becomes_angles_with_the_same_poses(tmp_path):
    ball = joints.spherical(default=(0.3, -0.4, 1.2))
    arm = box("arm", 2.0, (0.1, 0.2, 0.3), com=(0, 0, -0.2))
    model = Assembly("ball").add(arm, ball).marker("hand", "arm", (0.3, 0.4, 0.5)).model()
    (lost,) = hd.save(model, tmp_path / "ball.osim")
    assert "quaternion of joint 'arm'" in lost
    again = hd.load(tmp_path / "ball.osim")
    assert again.coordinate_names == model.coordinate_names
    assert_allclose(
        hd.dynamics.position(again, again.neutral(), "hand"),
        hd.dynamics.position(model, model.neutral(), "hand"),
        atol=1e-15,
    )


def chains() -> dict[str, joints.JointType]:
    slide, turn = joints.slide, joints.turn
    return {
        "screw": joints.helical((1, 2, 3), 0.02),
        "zxz": joints.euler("zxz"),
        "backward": joints.custom(turn("x", 0), turn("z", 1), slide("y", 2)),
        "both ways": joints.custom(slide("x", 0), turn("z", 1), slide("x", 2), turn("y", 3)),
        "curved": joints.custom(
            slide("x", 0, Spline((-2, -1, 0, 1, 2), (0.1, 0.0, 0.2, 0.1, 0.3), "simm")),
            slide("y", 0, Polynomial((0.1, 0.2, -0.3))),
            turn((1, 1, 0), 0, Linear(0.5, 0.2)),
            turn("z", None, Linear(0.0, 0.3)),
        ),
        "cylindrical": joints.cylindrical("y"),
    }


@pytest.mark.parametrize("kind", chains())
def test_any_sequence_of_axes_moves_the_same_in_opensim(opensim, tmp_path, kind):
    placed = hd.spatial.Transform(
        hd.spatial.rotation(np.array([0.6, 0.0, 0.8]), 0.7), np.array([0.1, 0.2, 0.3])
    )
    model = (
        Assembly("chain")
        .add(box("base", 3.0, (0.2, 0.3, 0.1), com=(0.1, 0, 0)), joints.revolute("y"))
        .add(
            box("tip", 2.0, (0.1, 0.2, 0.3), com=(0, 0.1, 0)),
            chains()[kind],
            "base",
            at=placed,
            child_at=placed,
            joint_name="joint",
        )
        .marker("end", "tip", (0.1, 0.2, 0.3))
        .model()
    )
    path = tmp_path / "chain.osim"
    hd.save(model, path)
    again = hd.load(path)
    for q, v, a in np.random.default_rng(4).uniform(-1, 1, (5, 3, model.nv)):
        values = by_name(model, [q])
        places = opensim("places", path=str(path), values=values)
        here = hd.dynamics.position(model, q, "end")
        assert_allclose(here, places["markers"]["end"], atol=EXACT)
        # The file may have the coordinates in another order.
        order = [model.coordinate_names.index(name) for name in again.coordinate_names]
        assert_allclose(hd.dynamics.position(again, q[order], "end"), here, atol=EXACT)
        theirs = opensim(
            "torques",
            path=str(path),
            values=values,
            speeds=by_name(model, [v]),
            accelerations=by_name(model, [a]),
        )
        found = [theirs[name] for name in model.coordinate_names]
        tau = inverse_dynamics(model, q, v, a)
        if kind != "curved":  # there one coordinate turns about two axes
            assert_allclose(found, tau, rtol=0, atol=EXACT * max(1, np.abs(tau).max()))


def test_refusals_name_what_is_accepted(tmp_path):
    def refused(joint, name="leg"):
        model = Assembly("one").add(box(name, 1.0, (0.1, 0.1, 0.1)), joint).model()
        with pytest.raises(FormatError) as caught:
            hd.save(model, tmp_path / "x.osim")
        assert not (tmp_path / "x.osim").exists()
        return str(caught.value)

    natural = Spline((-1.0, 0.0, 1.0), (0.0, 0.2, 0.1))
    assert "Spline with end='simm'" in refused(joints.custom(joints.turn("x", 0, natural)))
    shared = joints.custom(joints.turn("x"), joints.slide("y"), joints.turn("z"))
    assert "drives axes of more than one" in refused(shared)
    assert "no blanks" in refused(joints.revolute("x"), "left leg")
    with_parameter = (
        Assembly("one")
        .add(box("leg", 1.0, (0.1, 0.1, 0.1)), joints.revolute("x"))
        .model()
        .with_parameters("leg.mass")
    )
    with pytest.raises(FormatError, match=r"parameters leg\.mass"):
        hd.save(with_parameter, tmp_path / "x.osim")


def test_losses_name_what_opensim_lacks(tmp_path):
    leg = Assembly("one").add(
        box("leg", 1.0, (0.1, 0.1, 0.1)), joints.euler("zxz", max_velocity=3.0)
    )
    points = (PathPoint("a", "world"), PathPoint("b", "leg", (0.1, 0, 0)))
    model = replace(
        leg.contact("sole", "leg").model(), muscles=(Muscle("own", "MyMuscle", points),)
    )
    lost = hd.save(model, tmp_path / "x.osim")
    assert [one for one in lost if one.startswith("velocity limits")]
    assert [one for one in lost if one.startswith("1 contact point cannot")]
    assert [one for one in lost if "1 muscle of kinds that OpenSim lacks (own)" in one]
    assert [one for one in lost if "becomes 2 joints with the massless body leg_1" in one]
    assert hd.load(tmp_path / "x.osim").muscles == ()


@pytest.mark.parametrize("source", [hunt_crossley_file, smooth_file])
def test_written_contact_forces_push_as_those_of_the_file(opensim, tmp_path, source):
    path, written = source(tmp_path / "ball.osim"), tmp_path / "written.osim"
    model = hd.load(path)
    hd.save(model, written, like=path)
    given = []
    for k, v in enumerate(np.random.default_rng(6).uniform(-1, 1, (4, model.nv))):
        q = np.array([0.1, 0.2, -0.1, 0.3, 0.12 + 0.01 * k, -0.2])
        given.append({"q": by_name(model, [q]), "v": by_name(model, [v])})
    (tmp_path / "states.json").write_text(json.dumps(given), encoding="utf-8")
    rows = []
    for file in (path, written):
        command = [
            sys.executable,
            "-I",
            str(CONTACT_PEER),
            str(file),
            str(tmp_path / "states.json"),
        ]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
        forces = json.loads(answer.stdout.splitlines()[-1])
        parts = sorted(forces[0], key=lambda label: label.partition(".")[2])
        rows.append([[row[part] for part in parts] for row in forces])
    assert np.abs(rows[0]).max() > 50
    assert_allclose(rows[1], rows[0], rtol=1e-9, atol=1e-9)


def test_contact_forces_are_those_of_the_file_that_the_model_is_like(shared_data, tmp_path):
    from homodyn.model.formats.osim_contacts import read_osim_contacts

    path = shared_data / FILES[1]
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    model = hd.load(path)
    hd.save(model, tmp_path / "like.osim", like=path)
    ours, theirs = read_osim_contacts(tmp_path / "like.osim"), read_osim_contacts(path)
    assert len(ours.forces) == len(theirs.forces) == 12
    for a, b in zip(ours.forces, theirs.forces, strict=True):
        assert_allclose(a.normal, b.normal, atol=1e-15)
        flat = {"normal": np.zeros(3)}
        assert canonical_text(replace(a, **flat)) == canonical_text(replace(b, **flat))
    hd.save(model, tmp_path / "alone.osim")
    assert read_osim_contacts(tmp_path / "alone.osim").forces == ()
