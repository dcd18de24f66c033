"""Periodic cubics against scipy, and gaits of a human with impedances that vary over the phase."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

import homodyn as hd
from homodyn.model import Assembly, joints, rod
from homodyn.simulate import PD, Integral, SimulationStatus, SoftContact, rollout
from homodyn.simulate.signals import PeriodicCubic, PhaseVariable

POINTS = 4
CANDIDATES = 128


def test_the_curve_is_that_of_scipy_continued_periodically():
    pendulum = Assembly("p").add(rod("rod", 1, (0, 0, 0), (0, 0, -1)), joints.revolute("y")).model()
    rng = np.random.default_rng(1)
    intervals, values = rng.uniform(0.1, 1, (20, POINTS + 1)), rng.normal(size=(20, POINTS))
    result = rollout(
        pendulum,
        [0.0],
        duration=2.5,
        dt=0.01,
        contact=None,
        batch_parameters={
            **{f"d{i}": intervals[:, i] for i in range(POINTS + 1)},
            **{f"y{i}": values[:, i] for i in range(POINTS)},
        },
        signals={
            "curve": PeriodicCubic(
                lambda t, q, v, batch: 0.8 * t,
                [f"d{i}" for i in range(POINTS + 1)],
                [f"y{i}" for i in range(POINTS)],
            )
        },
        recorded_quantities=("signals",),
    )
    phase = 0.8 * result.time % 1
    for k in range(20):
        x = np.cumsum(intervals[k])[:-1] / intervals[k].sum()
        periods = np.concatenate([x - 2, x - 1, x, x + 1, x + 2])
        expected = PchipInterpolator(periods, np.tile(values[k], 5))(phase)
        assert np.allclose(result.records["signals"]["curve"][k], expected, atol=1e-9)


def test_wrong_numbers_of_points_are_refused():
    with pytest.raises(hd.ModelError, match=r"N \+ 1 intervals; got 2 values and 2 intervals"):
        PeriodicCubic("phase", (1, 1), (0, 1))


JOINTS = ("hip", "knee", "ankle")
BOUNDS = {
    "stiffness": (0.0, 12000.0),
    "damping": (0.0, 60.0),
    "hip": (-0.8, 0.8),
    "knee": (-0.1, 1.5),
    "ankle": (-0.6, 0.6),
}


def controller(mode):
    """Signals and gains of both legs in antiphase, and bounds of their parameters by name."""
    bounds = {}

    def variable(name, kind):
        bounds[name] = BOUNDS[kind]
        return name

    def cubic(name, kind, phase):
        intervals = [f"{name} d{i}" for i in range(POINTS + 1)]
        bounds.update(dict.fromkeys(intervals, (0.1, 1.0)))
        return PeriodicCubic(
            phase, intervals, [variable(f"{name} {i}", kind) for i in range(POINTS)]
        )

    def gain(name, kind, phase):
        if mode == "ppoly":
            return cubic(name, kind, phase)
        if mode == "constant":
            return variable(name, kind)
        first, second = variable(f"{name} 1", kind), variable(f"{name} 2", kind)
        begin, end = f"{name} begin", f"{name} end"
        bounds.update({begin: (0.0, 1.0), end: (0.0, 1.0)})
        return lambda t, q, v, b: ca.if_else(
            ca.logic_and(b[phase] > b[begin], b[phase] < b[end]), b[first], b[second]
        )

    signals = {
        "right": PhaseVariable("frequency"),
        "left": lambda t, q, v, b: ca.fmod(b["right"] + 0.5, 1.0),
    }
    for side in ("right", "left"):
        for joint in JOINTS:
            signals[f"{side} {joint} angle"] = cubic(f"{joint} angle", joint, side)
            for kind in ("stiffness", "damping"):
                signals[f"{side} {joint} {kind}"] = gain(f"{joint} {kind}", kind, side)

    def by_joint(kind):
        return {f"{s}_{j}": f"{s} {j} {kind}" for s in ("right", "left") for j in JOINTS}

    servo = PD(by_joint("stiffness"), by_joint("damping"), by_joint("angle"), stable=True)
    return signals, servo, bounds


@pytest.mark.parametrize(("mode", "parameters"), [("constant", 33), ("step", 45), ("ppoly", 81)])
def test_random_gaits_within_the_bounds_of_kieboom_stay_finite(mode, parameters):
    signals, servo, bounds = controller(mode)
    switches = sum("begin" in name or "end" in name for name in bounds)
    if mode == "step":
        # Stiffness and damping of a joint switch at the same times.
        switches //= 2
    count = len(bounds) - (switches if mode == "step" else 0)
    assert count == parameters
    model = hd.catalog.winter_human()
    pose = hd.simulate.place_on_ground(model, model.neutral())
    rng = np.random.default_rng(0)
    drawn = {name: rng.uniform(*limits, CANDIDATES) for name, limits in bounds.items()}

    def broken(stable):
        """How many candidates leave the range of numbers."""
        result = rollout(
            model,
            pose,
            duration=0.5,
            dt=1e-3,
            contact=SoftContact(stiffness=3e4, damping=60.0),
            actuation=replace(servo, stable=stable),
            signals=signals,
            batch_parameters={"frequency": rng.uniform(0.4, 1.2, CANDIDATES), **drawn},
            measures={"effort": Integral(lambda step: ca.sumsqr(step.torque))},
        )
        finished = result.status == SimulationStatus.FINISHED.value
        assert len(np.unique(result.measures["effort"][finished])) == finished.sum()
        return CANDIDATES - int(finished.sum())

    assert broken(stable=True) == 0
    assert broken(stable=False) > CANDIDATES / 2
