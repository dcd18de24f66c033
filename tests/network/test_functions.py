"""Operators and functions against numpy, scipy and finite differences."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import linalg, special

from homodyn.errors import NetworkError
from homodyn.network import parse
from homodyn.network.functions import FUNCTION_NAMES

A = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
TEXT = "[4, 1, 0.5; 1, 3, 0.2; 0.5, 0.2, 2]"


def value(text, before=""):
    net = parse(f'{before}\nresult = "{text}"\n')
    return net.run(0)["result"][0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-3", -3),
        ("7 - 2 - 1", 4),
        ("2 + 3 * 4", 14),
        ("2 * 3 ^ 2", 18),
        ("-2 ^ 2", -4),
        ("2 ^ -1", 0.5),
        ("2 ^ 3 ^ 2", 512),
        ("7 / 2", 3.5),
        ("7 ÷ 2 · 3", 10.5),
        ("7.5 % 2", 1.5),
        ("-7.5 % 2", -1.5),
        ("3 > 2", 1),
        ("3 < 2", 0),
        ("2 >= 2", 1),
        ("2 <= 1", 0),
        ("2 == 2", 1),
        ("2 != 2", 0),
        ("0 || 3", 1),
        ("2 && 0", 0),
        ("!0", 1),
        ("!(2 > 1)", 0),
        ("0 ? 5 : 1 ? 6 : 7", 6),
        ("3²", 9),
        ("√16", 4),
        ("√(9 + 16)", 5),
    ],
)
def test_operators_on_numbers(text, expected):
    assert value(text) == pytest.approx(expected, abs=1e-15)


def test_a_product_is_of_matrices_when_inner_sizes_agree_and_elementwise_otherwise():
    np.testing.assert_allclose(value(f"{TEXT} * {TEXT}"), A @ A)
    np.testing.assert_allclose(value(f"{TEXT} .* {TEXT}"), A * A)
    np.testing.assert_allclose(value("[1, 2, 3] * [4, 5, 6]"), [[4, 10, 18]])
    assert value("[1, 2, 3] * [4; 5; 6]") == 32
    np.testing.assert_allclose(value("2 * [1, 2; 3, 4]"), [[2, 4], [6, 8]])
    np.testing.assert_allclose(value("[1, 2; 3, 4] > 2"), [[0, 0], [1, 1]])
    np.testing.assert_allclose(value("[1, 2] == [1, 3] ? [5, 6] : 0"), [[5, 0]])
    np.testing.assert_allclose(value(f"{TEXT}ᵀ"), A.T)


def test_a_product_of_incompatible_sizes_is_refused():
    with pytest.raises(NetworkError, match="2x3 and 2x2"):
        value("[1, 2, 3; 4, 5, 6] * [1, 2; 3, 4]")


ELEMENTWISE = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "sqrt": np.sqrt,
    "invsqrt": lambda a: 1 / np.sqrt(a),
    "exp": np.exp,
    "exp2": np.exp2,
    "erf": special.erf,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.round,
    "abs": np.abs,
    "ln": np.log,
    "log10": np.log10,
    "sign": np.sign,
    "transpose": np.transpose,
    "sqsum": lambda a: np.sum(a**2),
    "hypot": np.linalg.norm,
    "min": np.min,
    "max": np.max,
    "sum": np.sum,
    "product": np.prod,
    "length": lambda a: 3,
    "csum": lambda a: a.sum(0, keepdims=True),
    "rsum": lambda a: a.sum(1),
    "tril": np.tril,
    "triu": np.triu,
    "diag": np.diag,
    "size": lambda a: [[2, 3]],
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_functions_of_one_matrix(name):
    matrix = np.array([[0.1, 0.7, 0.35], [0.9, 0.22, 0.6]])
    text = "[0.1, 0.7, 0.35; 0.9, 0.22, 0.6]"
    if name == "diag":
        matrix, text = A, TEXT
    result = value(f"{name}({text})")
    np.testing.assert_allclose(result, ELEMENTWISE[name](matrix), rtol=1e-14)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("atan2(1, -2)", math.atan2(1, -2)),
        ("hypot(3, 4)", 5),
        ("min(2, 3)", 2),
        ("max(2, 3)", 3),
        ("pow(2, 0.5)", 2**0.5),
        ("lerp(0.25, 10, 20)", 12.5),
        ("csign(3, -0.5)", -3),
        ("clip(7, 1, 5)", 5),
        ("clip(-7, 1, 5)", 1),
        ("cycle(7.5, 0, 2)", 1.5),
        ("cycle(-0.5, 0, 2)", 1.5),
        ("size([1, 2, 3], 0)", 1),
        ("size([1, 2, 3], 1)", 3),
        ("round(-2.5)", -3),
        ("index([5, 6, 7], 2)", 7),
        ("lindex([5, 6; 7, 8], 1, 2)", 7),
        ("∑([1, 2, 3])", 6),
        ("∏([1, 2, 3, 4])", 24),
    ],
)
def test_functions_of_several_numbers(text, expected):
    assert value(text) == pytest.approx(expected, abs=1e-14)


def test_linear_algebra():
    np.testing.assert_allclose(value(f"inv({TEXT})"), np.linalg.inv(A), rtol=1e-12)
    np.testing.assert_allclose(
        value(f"linsolve({TEXT}, [1; 2; 3])"), np.linalg.solve(A, [1, 2, 3]), rtol=1e-12
    )
    tall = np.array([[1.0, 2.0], [3.0, 4.5], [5.0, 6.0]])
    np.testing.assert_allclose(
        value("pinv([1, 2; 3, 4.5; 5, 6])"), np.linalg.pinv(tall), rtol=1e-10
    )
    np.testing.assert_allclose(
        value("pinv([1, 3, 5; 2, 4.5, 6])"), np.linalg.pinv(tall.T), rtol=1e-10
    )
    # Of lower rank: the second row is twice the first.
    low = np.array([[1.0, 2.0], [2.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(value("pinv([1, 2; 2, 4; 0, 0])"), np.linalg.pinv(low), atol=1e-12)
    flat = np.array([[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
    np.testing.assert_allclose(
        value("psolve([2, 2, 0; 2, 2, 0; 0, 0, 3], [1; 5; 6])"),
        np.linalg.pinv(flat) @ [1, 5, 6],
        atol=1e-12,
    )
    np.testing.assert_allclose(value("psolve(zeros(2, 2), [1; 2])"), [0, 0])
    np.testing.assert_allclose(
        value(f"psolve({TEXT}, [1; 2; 3])"), np.linalg.solve(A, [1, 2, 3]), rtol=1e-12
    )
    both = value(f"qr({TEXT})")
    np.testing.assert_allclose(both[:, :3] @ both[:, 3:], A, atol=1e-13)
    np.testing.assert_allclose(both[:, :3].T @ both[:, :3], np.eye(3), atol=1e-13)
    np.testing.assert_allclose(value("vcat([1, 2], [3, 4])"), [[1, 2], [3, 4]])
    np.testing.assert_allclose(value("zeros(2, 3)"), np.zeros((2, 3)))
    np.testing.assert_allclose(value("eye(2)"), np.eye(2))
    np.testing.assert_allclose(
        value("[eye(2), [5; 6]; 7, 8, 9]"), [[1, 0, 5], [0, 1, 6], [7, 8, 9]]
    )


def test_factors_of_a_mass_matrix_with_branches():
    # Rows 2 and 3 both hang on row 1, so H[3, 2] is 0.
    parents = [-1, 0, 1, 1]
    rng = np.random.default_rng(3)
    lower = np.tril(rng.normal(size=(4, 4)), -1)
    lower[3, 2] = 0
    lower += np.eye(4)
    d = np.diag([2.0, 3.0, 4.0, 5.0])
    h = lower.T @ d @ lower
    text = "[" + "; ".join(", ".join(repr(float(v)) for v in row) for row in h) + "]"
    b = np.array([1.0, -2.0, 0.5, 3.0])
    before = f'H = "{text}"\np = "[{", ".join(map(str, parents))}]"\nb = "[1; -2; 0.5; 3]"'
    factor = value("sltdl(H, p)", before)
    np.testing.assert_allclose(np.tril(factor, -1) + np.eye(4), lower, atol=1e-12)
    np.testing.assert_allclose(np.diag(factor), np.diag(d), rtol=1e-12)
    solve = linalg.solve
    for text, expected in {
        "slinsolve(H, b, p)": solve(h, b),
        "sltdllinvt(sltdl(H, p), b, p)": solve(lower.T, b),
        "sltdllinv(sltdl(H, p), b, p)": solve(lower, b),
        "sltdldinv(sltdl(H, p), b)": solve(d, b),
        "sltdldinvlinvt(sltdl(H, p), b, p)": solve(d, solve(lower.T, b)),
    }.items():
        np.testing.assert_allclose(value(text, before), expected, rtol=1e-11)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A[1, 2]", 0.2),
        ("A[2]", 0.5),
        ("A[3]", 1),
        ("A[:, 1]", A[:, 1]),
        ("A[0:2, 2]", A[0:2, 2]),
        ("A[[0; 2], [1, 2]]", A[np.ix_([0, 2], [1, 2])]),
        ("A[[0, 1], [1, 2]]", [[A[0, 1], A[1, 2]]]),
        ("A[[0, 4; 8, 1]]", [[4, 3], [2, 1]]),
        ("[1; 2; 3; 4][1:3]", [2, 3]),
        ("A[n - 1, n - 1]", 2),
    ],
)
def test_indices_count_from_zero_and_ranges_leave_out_their_end(text, expected):
    np.testing.assert_allclose(value(text, f'A = "{TEXT}"\nn = 3'), expected)


SMOOTH = [
    "sin(x)",
    "cos(x) * x",
    "tan(x)",
    "asin(x / 2)",
    "acos(x / 2)",
    "atan(x)",
    "atan2(x, 2 + x)",
    "sinh(x)",
    "cosh(x)",
    "tanh(x)",
    "sqrt(x)",
    "invsqrt(x)",
    "hypot(x, 2)",
    "hypot([x; 1; 2 * x])",
    "sqsum([x, x^2])",
    "min(x, 5 * x)",
    "max([x, 0.1])",
    "exp(x)",
    "exp2(x)",
    "erf(x)",
    "abs(-x)",
    "pow(x, 2.5)",
    "x ^ x",
    "ln(x)",
    "log10(x)",
    "lerp(x, 2, x^2)",
    "csign(x, -1)",
    "clip(x, 0, 2)",
    "cycle(3 * x, 0, 1)",
    "(7 * x) % 2",
    "x > 0.5 ? x^2 : x^3",
    "sum(inv([x, 1; 0.3, 2]))",
    "sum(linsolve([x, 1; 0.3, 2], [1; x]))",
    "sum(pinv([x, 1; 0.3, 2; 1, x]))",
    "product([x, x + 1, 2])",
    "sum([x, 1; 2, x] * [x; 1])",
    "sum(diag([x, 1; 2, x^2]))",
    "sum(tril([x, x; x, x]))",
    "sum(slinsolve([3, x; x, 2], [1; x], [-1, 0]))",
]


@pytest.mark.parametrize("text", SMOOTH)
def test_derivatives_of_built_ins_match_finite_differences(text):
    x, h = 0.8, 1e-6
    before = f'f(x) = "{text}"\n'
    found = value(f"pdiff[f; x]({x})", before)
    slope = (value(f"f({x + h})", before) - value(f"f({x - h})", before)) / (2 * h)
    assert found == pytest.approx(slope, rel=1e-6, abs=1e-7)


def test_every_built_in_is_tested_here():
    text = Path(__file__).read_text(encoding="utf-8")
    untested = {*FUNCTION_NAMES} - {"rand", "hcat"}
    assert [name for name in untested if f"{name}(" not in text and f'"{name}":' not in text] == []
