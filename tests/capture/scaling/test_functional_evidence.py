"""Functional trials as evidence for joint centers."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import Trial, calibrate
from homodyn.capture.rigid_registration import register_points
from homodyn.capture.scaling.functional_evidence import functional_evidence, functional_fits
from homodyn.capture.scaling.options import CalibrationOptions
from homodyn.capture.scaling.parameter_prior import parameter_prior
from homodyn.capture.scaling.pelvis_landmarks import hip_positions, pelvis_landmarks
from homodyn.capture.scaling.shared_markers import shared_markers
from homodyn.dynamics import marker_positions, orientation
from homodyn.model import Marker
from homodyn.spatial import Transform

HIPS = ("HipRight", "HipLeft")
CLUSTER_M = np.array([[0.05, 0.02, -0.15], [0.04, -0.03, -0.22], [0.06, 0.0, -0.3]])


@pytest.fixture(scope="module")
def generic():
    """HeiMan with a cluster of three markers on each thigh and shank."""
    model = hd.catalog.heiman()
    clusters = tuple(
        Marker(f"{side}_{body}{k}", f"{body}{side}", place)
        for side in ("Right", "Left")
        for body in ("Thigh", "Shank")
        for k, place in enumerate(CLUSTER_M)
    )
    return replace(model, markers=(*model.markers, *clusters))


@pytest.fixture(scope="module")
def person(generic):
    """The generic person with hips that are higher, more behind and closer together, and
    with markers a centimeter from their places."""
    shifted = {"HipRight": (-0.02, 0.01, 0.02), "HipLeft": (-0.02, -0.01, 0.02)}
    rng = np.random.default_rng(0)
    return replace(
        generic,
        markers=tuple(
            replace(m, position=m.position + rng.normal(0.0, 0.01, 3)) for m in generic.markers
        ),
        joints=tuple(
            replace(
                joint,
                placement=Transform(joint.placement.E, joint.placement.r + shifted[joint.name]),
            )
            if joint.name in shifted
            else joint
            for joint in generic.joints
        ),
    )


def record(person, name, q):
    rng = np.random.default_rng(len(name))
    positions = marker_positions(person, q)
    positions = positions + rng.normal(0.0, 5e-4, positions.shape)
    return Trial(name, tuple(m.name for m in person.markers), positions, rate=50)


def moving(person, joint, reach, frames=60):
    """Poses in which one joint circles, or bends where it is a hinge."""
    q = np.tile(person.neutral(), (frames, 1))
    slot = person.joint_slots[[one.name for one in person.joints].index(joint)].q
    phase = np.linspace(0.0, 4 * np.pi, frames)
    waves = np.stack([np.sin(phase), np.cos(phase), np.sin(0.5 * phase)], axis=1)
    count = slot.stop - slot.start
    q[:, slot] += reach * waves[:, :count]
    return q


@pytest.fixture(scope="module")
def trials(person):
    standing = record(person, "static", np.tile(person.neutral(), (20, 1)))
    return standing, [record(person, hip, moving(person, hip, 0.4)) for hip in HIPS]


def hip_error(scaled, person):
    """Largest error (m) of a hip relative to the markers of the pelvis."""
    found, true = (hip_positions(one, pelvis_landmarks(one)) for one in (scaled.model, person))
    return max(float(np.linalg.norm(found[side] - true[side])) for side in true)


def test_functional_trials_move_the_hips_to_where_they_are(generic, person, trials):
    standing, functional = trials
    static = calibrate(generic, standing, frames=5)
    found = calibrate(generic, standing, functional=functional)
    assert hip_error(found, person) < 0.005
    assert hip_error(found, person) < 0.5 * hip_error(static, person)
    for hip in HIPS:
        assert any(f"functional center of {hip}" in note for note in found.notes)


def test_derivatives_and_zero_at_the_truth(generic, person, trials):
    knee = record(person, "bending", moving(person, "KneeRight", 0.6))
    recording = shared_markers(generic, [trials[1][0], knee])
    fits, doubts = functional_fits(generic, recording, [0, 1])
    names = {generic.joints[fit.joint].name: fit for fit in fits}
    assert set(names) == {"HipRight", "KneeRight"}
    assert not doubts
    assert names["HipRight"].ball
    assert not names["KneeRight"].ball
    options = CalibrationOptions()
    free = [fit.joint for fit in fits if fit.ball]
    prior = parameter_prior(generic, recording.markers, options, size=None, free_joints=free)
    unknowns = prior.unknowns
    true = np.zeros(unknowns.size)
    hips = [3 * free[0] + k for k in range(3)]
    rows = unknowns.logarithms + np.flatnonzero(np.isin(unknowns.centers, hips))
    joint = [one.name for one in generic.joints].index("HipRight")
    places = [{m.name: m.position for m in one.markers} for one in (generic, person)]
    true[unknowns.shape :] = np.concatenate(
        [places[1][name] - places[0][name] for name in recording.markers]
    )
    true[rows] = person.joints[joint].placement.r - generic.joints[joint].placement.r
    for one in functional_evidence(generic, recording, unknowns, fits, options.prior):
        # Half a millimeter of noise is a tenth of a standard deviation of the evidence.
        assert np.abs(one.residual(true)).max() < 0.6
        phi = true + np.random.default_rng(0).normal(0.0, 0.01, len(true))
        step = np.random.default_rng(1).normal(0.0, 1.0, len(true))
        slope = (one.residual(phi + 1e-5 * step) - one.residual(phi - 1e-5 * step)) / 2e-5
        np.testing.assert_allclose(one.jacobian(phi) @ step, slope, atol=1e-3 * abs(slope).max())


def test_axes_that_soft_tissue_turns_count_less(generic, person):
    """Skin that turns a shank cluster with the knee turns the axis; the deviation covers it."""
    q = moving(person, "KneeRight", 0.6)
    bend = record(person, "bending", q)
    angles = (q - person.neutral())[:, person.position_index[_coordinate(person, "KneeRight")]]
    on_shank = [k for k, m in enumerate(person.markers) if m.body == "ShankRight"]
    axes = orientation(person, q, "ShankRight")
    joint = [one.name for one in generic.joints].index("KneeRight")
    deviations, ratios = [], []
    for seed in range(12):
        slopes = np.random.default_rng(seed).normal(0.0, 0.008, (len(on_shank), 3))
        positions = bend.positions.copy()
        positions[:, on_shank] += angles[:, None, None] * slopes @ np.swapaxes(axes, 1, 2)
        recording = shared_markers(generic, [replace(bend, positions=positions)])
        fits, _ = functional_fits(generic, recording, [0])
        fit = next(one for one in fits if one.joint == joint)
        shank = fit.segments[1]
        truth = np.array([person.markers[k].position for k in on_shank])
        names = [person.markers[k].name for k in on_shank]
        order = [names.index(recording.markers[row]) for row in shank.rows]
        R, _ = register_points(shank.shape, truth[order])
        turned = np.linalg.norm(np.cross(R @ shank.axis, [0.0, 1.0, 0.0]))
        prior = parameter_prior(generic, recording.markers, CalibrationOptions(), size=None)
        spread = CalibrationOptions().prior
        evidence = functional_evidence(generic, recording, prior.unknowns, [fit], spread)[0]
        deviations.append(evidence.axis_deviation)
        ratios.append(turned / evidence.axis_deviation)
    ratios, deviations = np.array(ratios), np.array(deviations)
    assert ratios.max() < 2.0
    # Four degrees alone would not cover them.
    assert (ratios * deviations).max() > 2.5 * spread.functional_axis


def _coordinate(model, prefix):
    return next(k for k, name in enumerate(model.coordinate_names) if name.startswith(prefix))


def test_a_functional_trial_without_movement_is_a_warning(generic, trials):
    standing, functional = trials
    still = replace(standing, name="still")
    found = calibrate(generic, [standing, *functional], functional=still, frames=10)
    assert any("functional trial 'still' determines no joint" in text for text in found.warnings)
