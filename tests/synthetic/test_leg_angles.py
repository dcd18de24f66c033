import numpy as np

import homodyn as hd
from homodyn.synthetic.leg_angles import euler_yxz, knee_flexion, leg_angles, rotation_about


def test_euler_angles_are_found_again():
    angles = np.random.default_rng(0).uniform(-1.2, 1.2, (40, 3))
    matrix = (
        rotation_about("y", angles[:, 0])
        @ rotation_about("x", angles[:, 1])
        @ rotation_about("z", angles[:, 2])
    )
    np.testing.assert_allclose(euler_yxz(matrix), angles, atol=1e-12)


def test_leg_angles_bring_the_foot_of_the_model_where_it_was():
    model = hd.catalog.heiman()
    rng = np.random.default_rng(1)
    names = [f"HipLeft_R{a}" for a in "YXZ"] + ["KneeLeft_RY"]
    names += [f"AnkleLeft_R{a}" for a in "YXZ"]
    index = [model.coordinate_index(name) for name in names]
    q = np.tile(model.neutral(), (30, 1)) + 0.2 * rng.normal(size=(30, model.nq))
    q[:, model.coordinate_index("KneeLeft_RY")] = rng.uniform(0.05, 1.4, 30)
    place, turned = (
        {
            name: function(model, q, name)
            for name in ("Pelvis", "ThighLeft", "ShankLeft", "FootLeft")
        }
        for function in (hd.dynamics.position, hd.dynamics.orientation)
    )
    found = leg_angles(
        place["ThighLeft"],
        turned["Pelvis"],
        place["FootLeft"],
        turned["FootLeft"],
        thigh=float(np.linalg.norm(place["ShankLeft"] - place["ThighLeft"], axis=1)[0]),
        shank=float(np.linalg.norm(place["FootLeft"] - place["ShankLeft"], axis=1)[0]),
        hip_rotation=q[:, model.coordinate_index("HipLeft_RZ")],
    )
    np.testing.assert_allclose(found, q[:, index], atol=1e-9)


def test_a_knee_out_of_reach_is_straight():
    assert knee_flexion(np.array([2.0]), 0.4, 0.4)[0] == 0.0
