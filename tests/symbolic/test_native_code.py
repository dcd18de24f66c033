"""One life cycle and one policy of tiers for kernels, lazy kernels and scans."""

import casadi as ca
import numpy as np
import pytest

from homodyn.errors import KernelError
from homodyn.symbolic import Scan, kernel
from homodyn.symbolic.lazy_kernel import DerivedGraph, LazyKernel
from homodyn.symbolic.native_code import forced_tier
from homodyn.symbolic.trace import Port


def lazy():
    def derive():
        x = ca.SX.sym("x", 2)
        return DerivedGraph(ca.Function("square", [x], [x * x]), np.zeros((2, 2), dtype=int))

    return LazyKernel("square", ("square",), [Port("x", (2,))], derive)


def call_kernel():
    kernel(lambda x: x * x, x=2)(np.ones((3, 2)))


def call_lazy_kernel():
    lazy()(np.ones((3, 2)))


def call_scan():
    Scan(kernel(lambda x: {"x": 0.5 * x}, x=2), ["x"])(3, {"x": np.ones(2)})


@pytest.mark.parametrize("call", [call_kernel, call_lazy_kernel, call_scan])
def test_an_unknown_tier_is_refused_by_all_users_of_native_code(call, monkeypatch):
    monkeypatch.setenv("HOMODYN_TIER", "fast")
    with pytest.raises(KernelError, match="HOMODYN_TIER is 'fast'; it may be interpreted or comp"):
        call()


@pytest.mark.parametrize("tier", ["", "interpreted", "compiled"])
def test_known_tiers_are_accepted(tier, monkeypatch):
    monkeypatch.setenv("HOMODYN_TIER", tier)
    assert forced_tier() == tier


def test_a_lazy_kernel_on_the_virtual_machine_does_not_compile(monkeypatch):
    monkeypatch.setenv("HOMODYN_TIER", "interpreted")
    assert not lazy().compile().compiled
