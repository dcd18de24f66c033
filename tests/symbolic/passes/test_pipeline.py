"""The list of passes, and programs printed between them."""

import casadi as ca
import numpy as np
import pytest

from homodyn.errors import KernelError
from homodyn.symbolic import Scan, kernel
from homodyn.symbolic.passes import pipeline


def spring(q, v):
    return {"force": -3.0 * q - 0.1 * v, "height": ca.sin(q)}


def test_dump_prints_the_program_before_and_after_contraction():
    function = kernel(spring, q=(), v=())
    before = function.dump(after="lowering")
    after = function.dump(after="fma_contraction")
    assert "%1 = input q[0]" in before.splitlines()
    assert "mul" in before
    assert "fma" not in before
    assert "fma" in after or "fms" in after or "fnma" in after
    assert len(after.splitlines()) < len(before.splitlines())
    assert "height[0] <- %" in after


def test_dump_without_a_name_prints_what_code_is_generated_from():
    function = kernel(spring, q=(), v=())
    assert function.dump() == function.dump(after="scheduling")
    assert "sine and cosine of q[0]:" in function.dump()


def test_an_unknown_pass_is_refused_with_the_list_of_passes():
    with pytest.raises(KernelError) as refusal:
        kernel(spring, q=(), v=()).dump(after="licm")
    assert str(refusal.value) == (
        "no pass is called 'licm'; the passes are, in order: "
        "lowering, fma_contraction, input_trig, scheduling"
    )


def test_a_packed_scan_moves_loop_invariants_into_a_prologue():
    def step(x, gain):
        return {"x": x * ca.exp(gain) / (1 + gain)}

    scan = Scan(kernel(step, x=(), gain=()), ["x"], packed=True)
    before = scan.dump(after="fma_contraction")
    after = scan.dump(after="loop_invariants")
    assert "prologue:" not in before
    prologue, body = after.split("body:\n")
    assert "exp" in prologue
    assert "exp" not in body
    assert "div" not in body
    assert [one.name for one in scan.passes] == [one.name for one in pipeline.SCAN_PASSES]


def test_passes_that_keep_the_bits_do_so():
    """Evaluate every stage of a kernel that all passes for scans change."""

    def step(p, w):
        turn = ca.vertcat(*[ca.sum1(w * ca.sin(p - p[k] + 0.1)) for k in range(5)])
        push = ca.if_else(p > 0, turn, -turn) / (1 + w[0])
        return {"p": p + 0.01 * push + ca.cos(ca.atan2(p[0], p[1]))}

    scan = Scan(kernel(step, p=5, w=5), ["p"], packed=True)
    unit = pipeline.lower(scan.kernel.traced.graph, [0])
    rng = np.random.default_rng(0)
    values = {0: rng.normal(size=5), 1: rng.normal(size=5)}
    results = evaluate(unit, values)
    changed = []
    for one in scan.passes:
        unit = one.run(unit)
        after = evaluate(unit, values)
        np.testing.assert_allclose(after, results, rtol=1e-13)
        if one.keeps_bits:
            np.testing.assert_array_equal(after, results)
        elif not np.array_equal(after, results):
            changed.append(one.name)
        results = after
    assert changed


def evaluate(unit, values):
    """Results of a unit, with every operation rounded as its instruction says."""
    values = dict(values)
    ports = 2
    if unit.prologue is not None:
        values[ports] = run(unit.prologue, values)
        ports += 1
    if unit.angles:
        angles = [values[port][entry] for port, entry in unit.angles]
        values[ports] = [f(angle) for angle in angles for f in (np.sin, np.cos)]
    return run(unit.program, values)


def run(program, values):
    known = []
    for instruction in program.instructions:
        op = instruction.op
        a = [] if op == "input" else [known[k] for k in instruction.arguments]
        if op == "input":
            port, entry = instruction.arguments
            known.append(np.float64(values[port][entry]))
        elif op == "const":
            known.append(np.float64(instruction.payload))
        else:
            known.append(np.float64(OPERATIONS[op](*a)))
    results = np.zeros(len(program.results))
    for _, entry, value in program.results:
        results[entry] = known[value]
    return results


def fused(a, b, c):
    return np.float64(np.longdouble(a) * np.longdouble(b) + np.longdouble(c))


OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "fma": fused,
    "fms": lambda a, b, c: fused(a, b, -c),
    "fnma": lambda a, b, c: fused(-a, b, c),
    "sin": np.sin,
    "cos": np.cos,
    "atan2": np.arctan2,
    "sqrt": np.sqrt,
    "not": lambda a: float(a == 0),
    "lt": lambda a, b: float(a < b),
    "le": lambda a, b: float(a <= b),
    "if_else_zero": lambda a, b: b if a else 0.0,
    "choose": lambda a, b, c: b if a else c,
}
