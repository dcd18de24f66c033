"""Impulses at given times."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.muscle.stimulation import ImpulseTrain


def test_periodic_impulses():
    train = ImpulseTrain.periodic([1.0, 0.2], 0.03, 0.09, start_s=0.5)
    np.testing.assert_allclose(train.time, [0.5, 0.53, 0.56])
    np.testing.assert_array_equal(train.charges, [[1, 0.2]] * 3)
    assert "3 impulses from 0.5 to 0.56 s" in train.headline()


def test_last_impulses_act_after_the_delay_and_zeros_do_not():
    train = ImpulseTrain([0.0, 0.1], [[0.4, 0.5], [0.0, 0.6]])
    t = ca.SX.sym("t")
    last = ca.Function("last", [t], [ca.vertcat(*train.last_impulses(t, 0.05))])
    np.testing.assert_allclose(np.asarray(last(0.04)).ravel(), [-1e9, -1e9, 0, 0])
    np.testing.assert_allclose(np.asarray(last(0.05)).ravel(), [0.05, 0.05, 0.4, 0.5])
    np.testing.assert_allclose(np.asarray(last(0.2)).ravel(), [0.05, 0.15, 0.4, 0.6])


def test_refusals():
    with pytest.raises(hd.ModelError, match=r"charge of muscle 1 at 0\.5 s \(impulse 1\) is nan"):
        ImpulseTrain([0.0, 0.5], [[0.1, 0.2], [0.3, np.nan]])
    with pytest.raises(hd.ModelError, match="times of impulses must be finite numbers that incr"):
        ImpulseTrain([0.5, 0.5], [[0.1], [0.3]])
    with pytest.raises(hd.ModelError, match=r"one row for each of the 2 times, got shape \(1, 1\)"):
        ImpulseTrain([0.5, 0.6], [[0.1]])
    with pytest.raises(hd.ModelError, match="a period and a duration above zero"):
        ImpulseTrain.periodic([1.0], 0.0, 1.0)
