"""Human36 against the numbers of HuMAnS, printed by its program or computed from its tables."""

import csv
from pathlib import Path

import numpy as np
import pytest

from homodyn.catalog import human36, mirror_map
from homodyn.catalog.data_tables import table_document
from homodyn.catalog.human36 import human36_lengths
from homodyn.catalog.humans_order import from_humans, to_humans
from homodyn.dynamics import bias_force, jacobian, mass_matrix
from homodyn.errors import ModelError
from homodyn.model import load, parametric, save
from homodyn.model.plausibility import implausibilities

PRINTED = 2e-7
"""Seven printed digits (m), as the notes on the original program's output allow."""
MIRRORED = [*range(6, 12), *range(6), 12, 13, 14, *range(24, 33), *range(15, 24)]
MIRROR_SIGNS = np.array([-1.0 if q in (13, 14, 34, 35, 39, 40, 41) else 1.0 for q in range(1, 43)])
"""Sides exchanged: q1-6 with q7-12 and q16-24 with q25-33, some coordinates negated."""
DEPTHS = {"L2", "L9", "L12", "L19", "L22"}


def golden(name):
    text = (Path(__file__).parent / "golden" / f"human36_{name}.csv").read_text()
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


@pytest.fixture(scope="module")
def models():
    return {variant: human36(variant=variant) for variant in ("document", "code")}


def document_posture(**angles):
    q = np.zeros(42)
    for name, value in angles.items():
        q[int(name[1:]) - 1] = value
    return q


POSTURES = {
    "zero": document_posture(),
    "flexed": document_posture(q3=-0.8147779, q6=-0.0402589, q9=-0.2575124, q12=0.2036690, q38=0.2),
}


def in_document_axes(point):
    return np.array([point[0], point[2], -point[1]])


def document_matrix(model, matrix):
    return to_humans(model, to_humans(model, matrix).T).T


def test_the_counts_are_those_of_the_document(models):
    for model in models.values():
        assert (len(model.bodies), model.nv, model.nq) == (17, 42, 42)
        assert len(model.markers) == 28
        assert implausibilities(model) == []
    assert len(human36_lengths()) == 31


def test_default_lengths_are_those_of_the_table():
    expected = {
        "yvt10": 0.3612575, "xvt10": 0.09085, "zhip": 0.1744482, "yfootR": 0.0386502,
        "ytibiaR": 0.4340313, "yfemurR": 0.4221925, "ysternoclavR": 0.170618,
        "zsternoclavR": 0.0127, "xsternoclavR": 0.1817, "yshoulderR": 0.0181064,
        "zshoulderR": 0.2127595, "xshoulderR": 0.09085, "yhumerusR": 0.2816938,
        "yforearmR": 0.2688104, "yvc7": 0.241999, "yhandR": 0.1899431, "yhead": 0.2428695,
        "xfootR": 0.2580162,
    }  # fmt: skip
    lengths = human36_lengths()
    for name, value in expected.items():
        assert lengths[name] == pytest.approx(value, abs=1e-7)
        if name.endswith("R"):
            assert lengths[f"{name[:-1]}L"] == lengths[name]


def test_lengths_of_the_program_scale_the_depths():
    lengths = human36_lengths(variant="code")
    assert lengths["xvt10"] == pytest.approx(0.0915766, abs=1e-7)
    assert lengths["xsternoclavR"] == pytest.approx(0.1831532, abs=1e-7)
    assert lengths["xshoulderL"] == pytest.approx(0.0915766, abs=1e-7)


@pytest.mark.parametrize("size", [1.5, 1.741, 2.05])
def test_the_vertical_chain_is_the_stature(size):
    lengths = human36_lengths(size)
    chain = ("yfootR", "ytibiaR", "yfemurR", "yvt10", "yvc7", "yhead")
    assert sum(lengths[name] for name in chain) == pytest.approx(size, abs=1e-12)


def test_masses_add_up_to_the_body():
    assert human36().mass == pytest.approx(73.0, rel=1e-14)
    assert human36(mass=61.5).mass == pytest.approx(61.5, rel=1e-14)


@pytest.mark.parametrize("variant", ["document", "code"])
@pytest.mark.parametrize("posture", ["zero", "flexed"])
def test_tags_and_center_of_mass_are_the_golden_ones(models, place, variant, posture):
    model = models[variant]
    q = from_humans(model, POSTURES[posture])
    tolerance = 1e-7 if posture == "zero" else PRINTED
    rows = [row for row in golden("tags") if row["posture"] == posture]
    assert len(rows) == 29
    for row in rows:
        expected = [float(row[f"{variant}_{axis}"]) for axis in "xyz"]
        found = in_document_axes(place(model, q, row["tag"]))
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance, err_msg=row["tag"])


def test_the_program_s_own_output_needs_the_lengths_of_the_program(models, place):
    rows = [row for row in golden("tags") if row["posture"] == "flexed"]
    errors = {}
    for variant, model in models.items():
        q = from_humans(model, POSTURES["flexed"])
        errors[variant] = {
            row["tag"]: np.abs(
                in_document_axes(place(model, q, row["tag"]))
                - [float(row[f"original_{axis}"]) for axis in "xyz"]
            ).max()
            for row in rows
        }
    assert max(errors["code"].values()) < PRINTED
    off = {tag for tag, error in errors["document"].items() if error > PRINTED}
    assert off == {"substernale", "suprasternale", "cervicale"}


def test_soles_stand_on_the_ground_and_the_vertex_at_the_stature(models, place):
    model = models["document"]
    q = model.neutral()
    for side in "rl":
        for tag in ("digit2", "calcaneous_post", "metatarsal_pha5", "metatarsal_pha1"):
            assert in_document_axes(place(model, q, f"{side}_{tag}"))[1] == pytest.approx(
                0.0, abs=1e-12
            )
    assert in_document_axes(place(model, q, "vertex"))[1] == pytest.approx(1.741, abs=1e-12)


def test_the_mass_matrix_has_the_golden_diagonal(models):
    model = models["code"]
    M = document_matrix(model, mass_matrix(model, model.neutral()))
    expected = [float(row["mass_matrix"]) for row in golden("dynamics")]
    np.testing.assert_allclose(np.diag(M), expected, rtol=1e-13)
    checked_against_the_original = {
        1: 0.001397215796713388,
        2: 0.009374175700994995,
        34: 0.10208399155688053,
        35: 0.02035679029116519,
        36: 0.10430013572386694,
        37: 73.0,
    }
    for q, value in checked_against_the_original.items():
        assert M[q - 1, q - 1] == pytest.approx(value, rel=2e-14)


def test_the_mass_matrix_is_positive_though_the_girdles_have_no_mass(models):
    model = models["code"]
    assert model.body("right_shoulder_girdle").mass == 0
    q = np.clip(model.random(seed=3, size=20), -1.2, 1.2)
    M = mass_matrix(model, q)
    np.testing.assert_allclose(M, np.swapaxes(M, -1, -2), atol=1e-12)
    assert np.linalg.eigvalsh(M).min() > 0


@pytest.mark.parametrize("posture", ["zero", "flexed"])
def test_gravity_at_rest_is_the_golden_one(models, posture):
    model = models["code"]
    q = from_humans(model, POSTURES[posture])
    expected = [float(row[f"gravity_{posture}"]) for row in golden("dynamics")]
    force = to_humans(model, bias_force(model, q, np.zeros(42)))
    np.testing.assert_allclose(force, expected, rtol=0, atol=1e-9)


def test_landing_on_both_feet_loses_the_golden_energy(models):
    model = models["code"]
    M, J = standing(model)
    before = from_humans(model, -np.eye(42)[37])
    after, impulse = anchored(M, J, before)
    assert before @ M @ before / 2 == pytest.approx(36.5)
    assert after @ M @ after / 2 == pytest.approx(8.966646, abs=5e-7)
    assert impulse[2::3].sum() == pytest.approx(55.066708, abs=5e-7)
    rates = to_humans(model, after)
    assert rates[[5, 11, 14, 35]] == pytest.approx(
        [-3.10931, -3.10931, -6.99578, 8.15446], abs=6e-6
    )


def test_standing_without_torques_collapses_with_the_golden_accelerations(models):
    model = models["code"]
    M, J = standing(model)
    falling = np.linalg.solve(M, -bias_force(model, model.neutral(), np.zeros(42)))
    assert to_humans(model, falling) == pytest.approx(-9.81 * np.eye(42)[37], abs=1e-10)
    acceleration, force = anchored(M, J, falling)
    assert force[2::3].sum() == pytest.approx(540.2044051, abs=5e-7)
    assert to_humans(model, acceleration)[[2, 5, 14, 35, 41]] == pytest.approx(
        [10.2162, -30.5024, -68.6286, 79.9953, 22.3211], abs=6e-5
    )


def standing(model):
    """Mass matrix, and Jacobian of the eight points under the feet, of rank twelve."""
    q = model.neutral()
    feet = [contact.name for contact in model.contacts if contact.body.endswith("foot")]
    J = np.vstack([jacobian(model, q, name) for name in feet])
    assert len(J) == 24
    assert np.linalg.matrix_rank(J) == 12
    return mass_matrix(model, q), J


def anchored(M, J, motion):
    """The motion nearest to the given one in which the points rest, and what they receive."""
    spread = np.linalg.solve(M, J.T)
    received = -np.linalg.pinv(J @ spread, rcond=1e-10) @ (J @ motion)
    return motion + spread @ received, received


def test_measured_landmarks_give_the_ratios_of_the_tags():
    landmarks = {
        name: np.array(values) for name, values in table_document("human36")["landmarks"].items()
    }
    tags = table_document("human36")["tags"]
    seen = ~np.isnan(landmarks["x_digit2"])
    height = landmarks["height"]
    cases = [
        (landmarks["x_digit2"][seen], height[seen], 22.0, tags["r_digit2"]["at"][0]),
        (landmarks["x_pha5"], height, 11.82, tags["r_metatarsal_pha5"]["at"][0]),
        (landmarks["z_pha5"], height, 5.45, tags["r_metatarsal_pha5"]["at"][2]),
        (landmarks["z_lateral_malleolus"], height, 4.45, tags["r_lateral_malleolus"]["at"][2]),
    ]
    for measured, statures, mean, ratio in cases:
        assert round(measured.mean(), 2) == pytest.approx(mean, abs=0.005 + 1e-9)
        assert measured.mean() / statures.mean() == pytest.approx(ratio["size"], abs=5e-5)


@pytest.mark.parametrize("variant", ["document", "code"])
def test_a_taller_human_is_scaled_but_for_the_constants(variant):
    small, tall = (human36(size, variant=variant) for size in (1.741, 1.80))
    constants = {"m"} | (DEPTHS if variant == "document" else set())
    for name, tag in table_document("human36")["tags"].items():
        terms = tag["code"] if variant == "code" and "code" in tag else tag["at"]
        used = {key for axis in terms for key in axis}
        if used & (constants | {"L8", "L11", "L18", "L21"}):
            continue
        marker = next(m for m in tall.markers if m.name == name)
        before = next(m for m in small.markers if m.name == name)
        np.testing.assert_allclose(marker.position, before.position * 1.80 / 1.741, rtol=1e-14)
    lengths = [human36_lengths(size, variant=variant) for size in (1.741, 1.80)]
    fixed = {name for name in lengths[0] if lengths[0][name] == lengths[1][name]}
    inch = {"zsternoclavR", "zsternoclavL"}
    depths = {"xvt10", "xsternoclavR", "xsternoclavL", "xshoulderR", "xshoulderL"}
    assert fixed == (inch | depths if variant == "document" else inch)


def test_lengths_set_by_hand_come_back_and_move_what_hangs_on_them():
    longer = human36_lengths()
    assert human36(lengths=longer) == human36()
    longer["yfemurR"] += 0.03
    model = human36(lengths=longer)
    assert -model.joint("right_knee").placement.r[2] == longer["yfemurR"]
    knee = next(m for m in model.markers if m.name == "r_femoral_lateral_epicn")
    assert -knee.position[2] == longer["yfemurR"]


def test_swapping_sides_mirrors_the_tags_exactly(models, place):
    model = models["code"]
    q = np.random.default_rng(5).uniform(-0.6, 0.6, 42)
    mirrored = np.concatenate([q[MIRRORED], q[33:]]) * MIRROR_SIGNS
    for marker in model.markers:
        name = marker.name
        other = {"r_": "l_", "l_": "r_"}.get(name[:2], name[:2]) + name[2:]
        here = in_document_axes(place(model, from_humans(model, q), name))
        there = in_document_axes(place(model, from_humans(model, mirrored), other))
        np.testing.assert_allclose(there, here * [1, 1, -1], rtol=0, atol=1e-15, err_msg=name)


def test_the_mirror_found_from_geometry_is_that_of_the_document(models):
    model = models["document"]
    q = model.random(seed=6)
    mirrored = to_humans(model, mirror_map(model).position(q))
    document = to_humans(model, q)
    expected = np.concatenate([document[MIRRORED], document[33:]]) * MIRROR_SIGNS
    np.testing.assert_array_equal(mirrored, expected)


def test_the_order_of_the_document_and_back(models):
    model = models["document"]
    q = model.random(seed=1, size=(4, 3))
    assert np.array_equal(from_humans(model, to_humans(model, q)), q)
    by_number = to_humans(model, np.arange(42.0))
    assert model.coordinate_names[int(by_number[2])] == "right_knee_extension"
    assert model.coordinate_names[int(abs(by_number[38]))] == "root_ty"


def test_stature_and_mass_may_be_parameters():
    model = parametric(human36, size=1.741, mass=73.0)
    fixed = model.at({"size": 1.6, "mass": 60.0})
    plain = human36(1.6, 60.0)
    q = plain.random(seed=2)
    np.testing.assert_allclose(mass_matrix(fixed, q), mass_matrix(plain, q), rtol=1e-12, atol=1e-12)


def test_it_survives_its_file(tmp_path, models):
    for variant, model in models.items():
        save(model, tmp_path / f"{variant}.toml")
        assert load(tmp_path / f"{variant}.toml").digest == model.digest
    assert models["document"].digest != models["code"].digest


def test_an_unknown_variant_or_length_is_refused_with_the_known_ones():
    with pytest.raises(ModelError, match="no variant 'thesis'; accepted: document, code"):
        human36(variant="thesis")
    with pytest.raises(ModelError, match=r"no length femur; accepted: yvt10, .*xfootL"):
        human36(lengths={"femur": 0.4})
