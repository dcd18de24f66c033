"""Scans that advance arrays in place have the bits of scans that take all steps in one call."""

import casadi as ca
import numpy as np
import pytest

from homodyn.symbolic import Scan, kernel
from homodyn.symbolic.in_place_scan import InPlaceScan


@pytest.fixture(scope="module")
def oscillator():
    def step(x, drive, k):
        speed = x[1] + 0.01 * (drive - k * ca.sin(x[0]))
        return {
            "x": ca.vertcat(x[0] + 0.01 * speed, speed),
            "energy": speed**2 / 2 - k * ca.cos(x[0]),
        }

    sizes = {"x": 2, "drive": (), "k": ()}
    return Scan(kernel(step, sizes, outputs={"x": 2, "energy": ()}, name="oscillator"), ["x"])


@pytest.mark.parametrize("count", [1, 3, 40])
@pytest.mark.parametrize("native", [True, False])
def test_single_steps_equal_one_scan(oscillator, count, native):
    x = np.column_stack([np.linspace(0.1, 1, count), np.zeros(count)])
    k = np.linspace(1, 5, count)
    drive = np.sin(np.arange(60))
    whole = oscillator(
        60,
        {"x": x, "k": k},
        sampled={"drive": drive},
        record=["energy"],
        native=native,
    )
    scan = InPlaceScan(oscillator, {"x": x, "drive": 0.0, "k": k}, count, ["energy"], threads=2)
    if not native:
        scan._native = None
    elif scan._native is None:
        pytest.skip("no C compiler")
    energies = []
    for value in drive:
        scan.arrays["drive"][...] = value
        scan.step()
        energies.append(scan.records["energy"].copy())
    assert np.array_equal(scan.arrays["x"], whole.states["x"])
    assert np.array_equal(np.array(energies).T, whole.records["energy"])


def test_several_steps_record_the_last_one(oscillator):
    given = {"x": [0.3, 0.0], "drive": 0.5, "k": 2.0}
    one, many = (InPlaceScan(oscillator, given, 1, ["energy"]) for _ in range(2))
    for _ in range(7):
        one.step()
    many.step(7)
    assert np.array_equal(one.arrays["x"], many.arrays["x"])
    assert np.array_equal(one.records["energy"], many.records["energy"])
    one.step()
    many.step()
    assert np.array_equal(one.arrays["x"], many.arrays["x"])


def test_inputs_are_copies(oscillator):
    x = np.array([0.3, 0.0])
    scan = InPlaceScan(oscillator, {"x": x, "drive": 0.0, "k": 1.0}, 2)
    scan.step()
    assert np.array_equal(x, [0.3, 0.0])
    assert scan.arrays["x"].shape == (2, 2)
    assert np.array_equal(scan.arrays["x"][0], scan.arrays["x"][1])
