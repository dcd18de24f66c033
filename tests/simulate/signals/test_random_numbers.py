"""Random numbers of kernels against the generator in whole numbers of Python."""

from zlib import crc32

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.model import Assembly, joints, rod
from homodyn.simulate import rollout
from homodyn.simulate.signals import RandomNumber

M1, M2 = 2147483563, 2147483399
BATCH = 500


def integer_generator(seed, stream):
    """L'Ecuyer's generator with the seeding of the signal, in integers."""
    seed += crc32(stream.encode()) % 2**31
    a, b = 1 + seed % (M1 - 1), 1 + (69069 * seed) % (M2 - 1)
    draws = 0
    while True:
        a, b = 40014 * a % M1, 40692 * b % M2
        z = a - b if a > b else a - b + M1 - 1
        draws += 1
        if draws > 4:
            yield z / M1


@pytest.fixture(scope="module")
def draws():
    """Numbers of two signals over eight draws, (batch, 8), by name."""
    pendulum = Assembly("p").add(rod("rod", 1, (0, 0, 0), (0, 0, -1)), joints.revolute("y")).model()
    tick = lambda t, q, v, batch: ca.fmod(t + 1e-6, 0.02) > 0.01  # noqa: E731
    result = rollout(
        pendulum,
        [0.1],
        duration=0.16,
        dt=0.01,
        contact=None,
        signals={
            "onset": RandomNumber("uniform", 0.0, 1.0, "seed", redraw=tick),
            "size": RandomNumber("normal", 80.0, 5.0, "seed", redraw=tick),
            "kept": RandomNumber("uniform", 2.0, 4.0, "seed"),
        },
        batch_parameters={"seed": np.arange(BATCH)},
        recorded_quantities=("signals",),
    )
    return {name: values[:, 1::2] for name, values in result.records["signals"].items()}


def test_the_numbers_are_those_of_the_generator(draws):
    for seed in (0, 1, 499):
        numbers = integer_generator(seed, "onset")
        next(numbers)  # that of the start
        expected = [next(numbers) for _ in range(8)]
        assert np.array_equal(draws["onset"][seed], expected)
        numbers = integer_generator(seed, "kept")
        assert np.array_equal(draws["kept"][seed], np.full(8, 2.0 + 2.0 * next(numbers)))


def test_the_distributions_have_their_moments(draws):
    uniform, normal = draws["onset"].ravel(), draws["size"].ravel()
    n = len(uniform)
    assert uniform.mean() == pytest.approx(0.5, abs=4 / np.sqrt(12 * n))
    assert uniform.std() == pytest.approx(1 / np.sqrt(12), rel=0.05)
    assert normal.mean() == pytest.approx(80, abs=4 * 5 / np.sqrt(n))
    assert normal.std() == pytest.approx(5, rel=0.06)
    assert np.abs(normal - 80).max() > 12


def test_neighboring_seeds_and_draws_are_unrelated(draws):
    numbers = draws["onset"]
    assert abs(np.corrcoef(numbers[:-1, 0], numbers[1:, 0])[0, 1]) < 0.2
    assert abs(np.corrcoef(numbers[:, 0], numbers[:, 1])[0, 1]) < 0.2
    assert abs(np.corrcoef(numbers[:, 0], draws["size"][:, 0])[0, 1]) < 0.2


def test_wrong_distributions_and_seeds_are_refused():
    with pytest.raises(hd.ModelError, match="no distribution 'gauss'"):
        RandomNumber("gauss", 0, 1, 0)
    with pytest.raises(hd.ModelError, match="whole number"):
        RandomNumber("normal", 0, 1, 0.5)
