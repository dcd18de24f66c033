"""The vector functions are accurate, special where libm is, and blind to their neighbors."""

import ctypes
import ctypes.util
import math
import platform
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import mpmath as mp
import numpy as np
import pytest

LANES = (1, 2, 4, 8)
VARIANTS = [(lanes, fused) for lanes in LANES for fused in (True, False)]

# fmt: off
UNARY = [
    "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "exp", "expm1", "log", "log1p", "sinh",
    "cosh", "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "fabs", "sign", "erf", "erfinv",
    "not", "sq", "twice", "inv", "neg", "assign", "sincos_sin", "sincos_cos",
]
BINARY = [
    "atan2", "pow", "constpow", "fmod", "remainder", "copysign", "fmin", "fmax", "hypot", "lt",
    "le", "eq", "ne", "and", "or", "if_else_zero", "add", "sub", "mul", "div", "lift", "printme",
]
# fmt: on

DRIVER = """
#define HOMODYN_NEED_ALL
#include "vector.h"
#include "elementary.h"
static vreal v_sincos_sin(vreal x) { vreal s, c; v_sincos(x, &s, &c); return s; }
static vreal v_sincos_cos(vreal x) { vreal s, c; v_sincos(x, &s, &c); return c; }
#define LOOP(expression) \\
    for (long i = 0; i < n; i += LANES) { \\
        vreal a, b; \\
        memcpy(&a, x + i, sizeof a); \\
        memcpy(&b, y + i, sizeof b); \\
        a = expression; \\
        memcpy(out + i, &a, sizeof a); \\
    }
#define UNARY(name) void call_##name(const double *x, const double *y, double *out, long n) \\
    { LOOP((v_##name(a))) }
#define BINARY(name) void call_##name(const double *x, const double *y, double *out, long n) \\
    { LOOP((v_##name(a, b))) }
""" + "\n".join([f"UNARY({name})" for name in UNARY] + [f"BINARY({name})" for name in BINARY])

Array = np.ndarray
Evaluate = Callable[..., Array]


def evaluator(library: ctypes.CDLL) -> Evaluate:
    """Return a function name, x, y -> values over a compiled driver."""

    def evaluate(name: str, x: Array, y: Array | None = None) -> Array:
        padding = -len(x) % max(LANES)
        x = np.ascontiguousarray(np.pad(np.asarray(x, float), (0, padding), "edge"))
        y = x if y is None else np.ascontiguousarray(np.pad(y, (0, padding), "edge"))
        out = np.full(len(x), np.pi)
        arguments = [a.ctypes.data_as(ctypes.c_void_p) for a in (x, y, out)]
        getattr(library, f"call_{name}")(*arguments, ctypes.c_long(len(x)))
        return out[: len(out) - padding]

    return evaluate


@pytest.fixture(scope="module")
def evaluators(compile_c: Callable[..., ctypes.CDLL]) -> dict[tuple[int, bool], Evaluate]:
    """Return an evaluator per lane count and use of fused multiply-add."""
    return {
        (lanes, fused): evaluator(
            compile_c(DRIVER, f"-DLANES={lanes}", *([] if fused else ["-DHOMODYN_NO_FMA"]))
        )
        for lanes, fused in VARIANTS
    }


def log_uniform(rng: np.random.Generator, low: float, high: float, count: int) -> Array:
    """Random magnitudes between 2^low and 2^high, with both signs."""
    exponents = rng.uniform(low, high, count)
    whole = np.floor(exponents)
    sizes = np.ldexp(np.exp2(exponents - whole), whole.astype(int))
    return sizes * rng.choice([-1.0, 1.0], count)


def around(*centers: float, steps: int = 3) -> Array:
    """Each center with its nearest doubles on both sides, and their negatives."""
    points = []
    for center in centers:
        below = above = center
        points.append(center)
        for _ in range(steps):
            below, above = math.nextafter(below, -math.inf), math.nextafter(above, math.inf)
            points += [below, above]
    values = np.array(points)
    return np.concatenate([values, -values])


DENORMALS = around(5e-324, 1e-320, 1e-310, 2.0**-1022, steps=1)


def near_quarter_turns(rng: np.random.Generator, limit: float, count: int) -> Array:
    """Doubles next to multiples of pi/2 up to `limit`, where the reduction cancels most."""
    n = rng.integers(1, int(limit / (math.pi / 2)), count)
    with mp.workdps(60):
        points = np.array([float(int(k) * mp.pi / 2) for k in n])
    return points * rng.choice([-1.0, 1.0], count)


def hardest_quarter_turns(limit: float, count: int) -> Array:
    """The doubles below `limit` that come closest to a multiple of pi/2, relative to it."""
    n = np.arange(1, int(limit / (math.pi / 2)))
    with mp.workdps(60):
        high = float(mp.pi / 2)
        low = float(mp.pi / 2 - high)
    # n * high split exactly: n has 16 bits, so halves of 26 and 27 bits do.
    top = np.ldexp(np.floor(np.ldexp(high, 26)), -26)
    first, second = n * top, n * (high - top)
    near = first + second
    error = (second - (near - first)) + n * low
    return near[np.argsort(np.abs(error))[:count]]


def trigonometric_points(rng: np.random.Generator) -> Array:
    return np.concatenate(
        [
            rng.uniform(-math.pi, math.pi, 1000),
            rng.uniform(-1e5, 1e5, 700),
            log_uniform(rng, -1070, 1023, 300),
            near_quarter_turns(rng, 1e5, 400),
            hardest_quarter_turns(1e5, 300),
            np.arange(1, 200) * (math.pi / 4),
            around(1e5, math.pi / 2, math.pi / 4, 3 * math.pi / 4, 2.0**-27, 2.0**-13),
            DENORMALS,
        ]
    )


def unit_points(rng: np.random.Generator) -> Array:
    return np.concatenate(
        [
            rng.uniform(-1, 1, 1500),
            rng.uniform(0.4, 0.6, 300),
            1 - np.abs(log_uniform(rng, -53, -1, 400)),
            -1 + np.abs(log_uniform(rng, -53, -1, 400)),
            log_uniform(rng, -1070, 0, 300),
            around(0.5, 0.25, 2.0**-27),
            np.array([1.0, -1.0, math.nextafter(1, 0), -math.nextafter(1, 0)]),
            DENORMALS,
        ]
    )


def everywhere(rng: np.random.Generator, *hard: float) -> Array:
    return np.concatenate(
        [
            rng.uniform(-3, 3, 1500),
            rng.uniform(-40, 40, 400),
            log_uniform(rng, -1070, 1023, 400),
            log_uniform(rng, -60, 10, 400),
            around(1.0, 0.5, 2.0**-27, 2.0**-53, *hard),
            DENORMALS,
        ]
    )


def exponential_points(rng: np.random.Generator) -> Array:
    ln2 = math.log(2)
    edges = (709.782712893384, 745.1332191019411, 708.3964185322641, 708.0, 710.4758600739439)
    return np.concatenate(
        [
            everywhere(rng, 50.0, 22.0, 800.0, 36.7, 37.4, *edges),
            rng.uniform(-745, 710.4, 600),
            rng.uniform(-745.2, -700, 300),
            (np.arange(-400, 400) + 0.5) * ln2,
            around(*(k * ln2 / 2 for k in range(1, 9))),
        ]
    )


def positive_points(rng: np.random.Generator) -> Array:
    return np.abs(
        np.concatenate(
            [
                everywhere(rng, 2.0, 4.0, math.sqrt(2), math.sqrt(0.5), math.e),
                1 + log_uniform(rng, -52, -1, 800),
            ]
        )
    )


def pairs(rng: np.random.Generator) -> tuple[Array, Array]:
    x = np.concatenate(
        [
            rng.uniform(-3, 3, 1500),
            log_uniform(rng, -1070, 1023, 500),
            log_uniform(rng, -60, 60, 500),
        ]
    )
    y = np.concatenate(
        [
            rng.uniform(-3, 3, 1500),
            log_uniform(rng, -1070, 1023, 500),
            log_uniform(rng, -60, 60, 500),
        ]
    )
    near = log_uniform(rng, -500, 500, 300)
    grid = around(1.0, 0.5, math.sqrt(2) - 1)
    first, second = np.array(list(product(grid, grid))).T
    return (
        np.concatenate([x, near, -near, first]),
        np.concatenate([y, near * (1 + log_uniform(rng, -52, -1, 300)), near, second]),
    )


def power_pairs(rng: np.random.Generator) -> tuple[Array, Array]:
    near_one = 1 + log_uniform(rng, -52, -1, 600)
    wide = np.abs(log_uniform(rng, -1070, 1023, 600))
    edges = np.abs(around(1.0, 2.0, 10.0, math.sqrt(2), math.sqrt(0.5)))
    groups = [
        (rng.uniform(0, 4, 1000), rng.uniform(-5, 5, 1000)),
        (wide, log_uniform(rng, -60, 2, 600)),
        # Aim at results over the whole range of exponents, denormals included.
        (near_one, rng.uniform(-745, 709.7, 600) / np.log(near_one)),
        (wide, rng.uniform(-745, 709.7, 600) / np.log(wide)),
        (wide, rng.uniform(-745, -708, 600) / np.log(wide)),
        (rng.uniform(-4, 4, 600), rng.integers(-60, 60, 600).astype(float)),
        (edges, rng.uniform(-1000, 1000, len(edges))),
        (edges, rng.uniform(-300, 300, len(edges))),
    ]
    x, y = np.concatenate(groups, axis=1)
    return x, y


@dataclass(frozen=True)
class Reference:
    """What a function should give: `exact` in many digits at the points of `points`."""

    exact: Callable[..., mp.mpf]
    points: Callable[[np.random.Generator], Array | tuple[Array, Array]]
    ulps: float = 2.0


REFERENCES = {
    "sin": Reference(mp.sin, trigonometric_points),
    "cos": Reference(mp.cos, trigonometric_points),
    "tan": Reference(mp.tan, trigonometric_points),
    "asin": Reference(mp.asin, unit_points),
    "acos": Reference(mp.acos, unit_points),
    "atan": Reference(mp.atan, everywhere),
    "exp": Reference(mp.exp, exponential_points),
    "expm1": Reference(mp.expm1, exponential_points),
    "sinh": Reference(mp.sinh, exponential_points),
    "cosh": Reference(mp.cosh, exponential_points),
    "tanh": Reference(mp.tanh, exponential_points),
    "log": Reference(mp.log, positive_points),
    "log1p": Reference(
        mp.log1p,
        lambda rng: np.concatenate(
            [p[p > -1] for p in (everywhere(rng, math.sqrt(2) - 1, 2.0**1000), unit_points(rng))]
        ),
    ),
    "asinh": Reference(mp.asinh, lambda rng: everywhere(rng, 2.0**28, 2.0**500)),
    "acosh": Reference(
        mp.acosh,
        lambda rng: np.concatenate(
            [1 + positive_points(rng), around(2.0**28)[:7], around(1.0, 2.0)[[0, 2, 4, 7, 8, 9]]]
        ),
    ),
    "atanh": Reference(mp.atanh, lambda rng: (p := unit_points(rng))[np.abs(p) < 1]),
    "erf": Reference(mp.erf, lambda rng: everywhere(rng, 6.0, 5.9, 2.0)),
    "erfinv": Reference(
        mp.erfinv, lambda rng: (p := unit_points(rng))[np.abs(p) < 1][::8], ulps=4.0
    ),
    "sqrt": Reference(mp.sqrt, positive_points, ulps=0.5),
    "hypot": Reference(mp.hypot, pairs),
    "atan2": Reference(mp.atan2, pairs),
    "pow": Reference(mp.power, power_pairs),
}


def gather(
    points: Callable[[np.random.Generator], Array | tuple[Array, Array]],
) -> tuple[Array, Array | None]:
    """Return the points of several draws, each once, as x and, for two arguments, y."""
    draws = [np.atleast_2d(points(np.random.default_rng(seed))) for seed in range(4)]
    rows = np.unique(np.concatenate(draws, axis=1), axis=1)
    return rows[0], rows[1] if len(rows) == 2 else None


@pytest.fixture(scope="module")
def exact_values() -> Callable[[str], tuple[Array, Array | None, Array, Array]]:
    """Return x, y, the exact result rounded, and by how many ulp that rounding was wrong."""
    known: dict[str, tuple[Array, Array | None, Array, Array]] = {}

    def values(name: str) -> tuple[Array, Array | None, Array, Array]:
        if name not in known:
            reference = REFERENCES[name]
            x, y = gather(reference.points)
            rounded, rest = np.empty(len(x)), np.zeros(len(x))
            with mp.workdps(60):
                for k in range(len(x)):
                    arguments = [mp.mpf(float(x[k]))] + ([] if y is None else [mp.mpf(float(y[k]))])
                    exact = reference.exact(*arguments)
                    rounded[k] = float(exact)
                    if math.isfinite(rounded[k]):
                        rest[k] = float((exact - rounded[k]) / math.ulp(rounded[k]))
            known[name] = x, y, rounded, rest
        return known[name]

    return values


def ulp_errors(values: Array, rounded: Array, rest: Array) -> Array:
    """Distance from the exact result in units of its last place; where it overflows, 0 or inf."""
    with np.errstate(invalid="ignore", over="ignore"):
        errors = np.abs((values - rounded) / np.spacing(np.abs(rounded)) - rest)
    errors = np.where(np.isinf(rounded), np.where(values == rounded, 0.0, np.inf), errors)
    return np.where(np.isnan(errors), np.inf, errors)


@pytest.mark.parametrize("fused", [True, False], ids=["fma", "no_fma"])
@pytest.mark.parametrize("name", REFERENCES)
def test_error_stays_within_the_promised_ulps(name, fused, evaluators, exact_values):
    x, y, rounded, rest = exact_values(name)
    for lanes in LANES:
        errors = ulp_errors(evaluators[lanes, fused](name, x, y), rounded, rest)
        worst = int(np.argmax(errors))
        where = float(x[worst]).hex() + ("" if y is None else f", {float(y[worst]).hex()}")
        assert errors[worst] <= REFERENCES[name].ulps, f"{name}({where}), {lanes} lanes"


def test_ulp_measure_sees_a_result_that_is_three_ulp_off(evaluators, exact_values):
    x, y, rounded, rest = exact_values("exp")
    values = evaluators[1, True]("exp", x, y)
    ordinary = int(np.argmin(np.abs(x - 1.0)))
    values[ordinary] += 4 * np.spacing(values[ordinary])
    assert 2 < ulp_errors(values, rounded, rest).max() < 6


# fmt: off
SPECIAL = np.array([
    0.0, math.inf, math.nan, 5e-324, 1e-310, 2.0**-1022, 1e-9, 0.3, 0.5, 0.75,
    math.nextafter(1, 0), 1.0, math.nextafter(1, 2), 1.5, 2.0, 3.0, 4.0, 7.5, 21.0, 100.0,
    709.78, 709.79, 745.1, 745.2, 710.47, 710.48, 1024.0, 1e5, 123456.0,
    2.0**52 - 0.5, 2.0**52 + 1, 2.0**53, 2.0**53 + 2, 1e200, 1e300, 1.7976931348623157e308,
])
# fmt: on
SPECIAL = np.concatenate([SPECIAL, -SPECIAL])
SPECIAL_PAIRS = tuple(np.array(list(product(SPECIAL, SPECIAL))).T)

# fmt: off
LIBM_UNARY = [
    "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "exp", "expm1", "log", "log1p", "sinh",
    "cosh", "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "fabs", "erf",
]
LIBM_BINARY = [
    "atan2", "pow", "fmod", "remainder", "copysign", "fmin", "fmax", "hypot",
]
EXACT_UNARY = [
    "sqrt", "floor", "ceil", "fabs",
]
EXACT_BINARY = [
    "fmod", "remainder", "copysign", "fmin", "fmax",
]
# fmt: on


def libm(name: str, *arguments: Array) -> Array:
    """Evaluate a function of the C library one number at a time."""
    function = getattr(ctypes.CDLL(ctypes.util.find_library("m")), name)
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_double] * len(arguments)
    return np.array([function(*map(float, row)) for row in zip(*arguments, strict=True)])


def same_bits(a: Array, b: Array) -> Array:
    """Where two arrays agree to the bit; all NaN count as the same."""
    return (a.view(np.int64) == b.view(np.int64)) | (np.isnan(a) & np.isnan(b))


@pytest.mark.parametrize(("lanes", "fused"), VARIANTS)
@pytest.mark.parametrize("name", LIBM_UNARY + LIBM_BINARY)
def test_special_values_are_those_of_libm(name, lanes, fused, evaluators):
    arguments = (SPECIAL,) if name in LIBM_UNARY else SPECIAL_PAIRS
    values, expected = evaluators[lanes, fused](name, *arguments), libm(name, *arguments)
    with np.errstate(invalid="ignore", over="ignore"):
        close = np.abs(values - expected) <= 3 * np.spacing(np.abs(expected))
    ordinary = np.isfinite(expected) & (expected != 0)
    right = np.where(ordinary, close, same_bits(values, expected))
    if name in ("fmin", "fmax"):
        # C leaves open which of +0 and -0 is the smaller.
        right |= (values == 0) & (expected == 0)
    wrong = [tuple(a[k] for a in arguments) for k in np.flatnonzero(~right)]
    assert not wrong, f"{name} differs from libm at {wrong[:5]}"


@pytest.mark.parametrize("fused", [True, False], ids=["fma", "no_fma"])
@pytest.mark.parametrize("name", EXACT_UNARY + EXACT_BINARY)
def test_exact_operations_are_exact(name, fused, evaluators):
    rng = np.random.default_rng(11)
    whole = rng.integers(-50, 50, 3000).astype(float)
    x = np.concatenate(
        [log_uniform(rng, -1070, 1023, 3000), rng.uniform(-99, 99, 3000), whole, whole / 4]
    )
    y = np.concatenate(
        [
            log_uniform(rng, -1070, 1023, 1500),
            log_uniform(rng, -20, 20, 1500),
            rng.uniform(-9, 9, 3000),
            rng.integers(1, 9, 3000),
            rng.integers(1, 9, 3000) / 8,
        ]
    )
    if name == "sqrt":
        x = np.abs(x)
    arguments = (x,) if name in EXACT_UNARY else (x, y)
    right = same_bits(evaluators[8, fused](name, *arguments), libm(name, *arguments))
    wrong = [tuple(a[k] for a in arguments) for k in np.flatnonzero(~right)]
    assert not wrong, f"{name} differs at {wrong[:5]}"


def test_erfinv_reaches_infinity_at_one_and_is_undefined_beyond(evaluators):
    x = np.array([0.0, -0.0, 1.0, -1.0, 1.5, -2.0, math.inf, math.nan])
    expected = np.array([0.0, -0.0, math.inf, -math.inf] + 4 * [math.nan])
    for variant in VARIANTS:
        assert same_bits(evaluators[variant]("erfinv", x), expected).all()


def mixed_arguments(rng: np.random.Generator) -> tuple[Array, Array]:
    """Ordinary numbers thinly mixed with those that leave the fast path, in random order."""
    ordinary = rng.uniform(-2, 2, 4096)
    x = np.concatenate([ordinary, SPECIAL_PAIRS[0][:1024], log_uniform(rng, -1070, 1023, 256)])
    y = np.concatenate([ordinary[::-1], SPECIAL_PAIRS[1][:1024], log_uniform(rng, -5, 5, 256)])
    order = rng.permutation(len(x))
    return x[order], y[order]


@pytest.mark.parametrize("fused", [True, False], ids=["fma", "no_fma"])
@pytest.mark.parametrize("name", UNARY + BINARY)
def test_bits_do_not_depend_on_the_number_of_lanes(name, fused, evaluators):
    x, y = mixed_arguments(np.random.default_rng(3))
    alone = evaluators[1, fused](name, x, y)
    for lanes in LANES[1:]:
        assert same_bits(evaluators[lanes, fused](name, x, y), alone).all(), f"{lanes} lanes"


@pytest.mark.parametrize("fused", [True, False], ids=["fma", "no_fma"])
@pytest.mark.parametrize("name", UNARY + BINARY)
def test_bits_do_not_depend_on_position_or_neighbors(name, fused, evaluators):
    rng = np.random.default_rng(5)
    x, y = mixed_arguments(rng)
    evaluate = evaluators[8, fused]
    values = evaluate(name, x, y)
    for shift in range(1, 8):
        shifted = evaluate(name, np.roll(x, shift), np.roll(y, shift))
        assert same_bits(shifted, np.roll(values, shift)).all(), f"moved by {shift}"
    order = rng.permutation(len(x))
    assert same_bits(evaluate(name, x[order], y[order]), values[order]).all()


@pytest.mark.parametrize("slow", [1e6, 1e300, math.inf, math.nan, 1e-310, 800.0, -800.0, 0.0])
@pytest.mark.parametrize("name", UNARY + BINARY)
def test_one_slow_neighbor_leaves_the_other_lanes_alone(name, slow, evaluators):
    x, y = np.linspace(0.1, 0.9, 64), np.linspace(-0.7, 0.8, 64)
    evaluate = evaluators[8, True]
    expected = evaluate(name, x, y)
    for lane in range(8):
        x_slow, y_slow = x.copy(), y.copy()
        x_slow[lane::8], y_slow[lane::8] = slow, slow
        others = np.arange(64) % 8 != lane
        assert same_bits(evaluate(name, x_slow, y_slow), expected)[others].all(), f"lane {lane}"


@pytest.mark.parametrize(("lanes", "fused"), VARIANTS)
def test_sincos_is_sin_and_cos_to_the_bit(lanes, fused, evaluators):
    x, _ = mixed_arguments(np.random.default_rng(8))
    evaluate = evaluators[lanes, fused]
    assert same_bits(evaluate("sincos_sin", x), evaluate("sin", x)).all()
    assert same_bits(evaluate("sincos_cos", x), evaluate("cos", x)).all()


@pytest.mark.parametrize("condition", [0.0, -0.0])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -1.0, -0.0])
def test_a_false_condition_gives_plus_zero_whatever_the_value(condition, value, evaluators):
    for variant in VARIANTS:
        result = evaluators[variant]("if_else_zero", np.full(8, condition), np.full(8, value))
        assert same_bits(result, np.zeros(8)).all()


def test_every_scalar_operation_of_casadi_means_the_same_here(evaluators):
    casadi = pytest.importorskip("casadi")
    x, y = SPECIAL_PAIRS
    a, b = casadi.SX.sym("a"), casadi.SX.sym("b")
    seen = set()
    for name in (name for name in dir(casadi) if name.startswith("OP_")):
        number = getattr(casadi, name)
        node = casadi.SX.binary(number, a, b)
        if node.op() != number or node.n_dep() == 0 or name == "OP_PRINTME":
            continue
        function = casadi.Function("f", [a, b], [node]).map(len(x))
        expected = np.ascontiguousarray(np.array(function(x[None], y[None])).ravel())
        values = evaluators[8, True](name[3:].lower(), x, y)
        # CasADi fits its inverse error function, least well next to one.
        with np.errstate(invalid="ignore", over="ignore"):
            ulp = np.spacing(np.abs(expected))
            tolerance = 1e-2 * np.abs(expected) if name == "OP_ERFINV" else 3 * ulp
            same = same_bits(values, expected) | (np.abs(values - expected) <= tolerance)
        wrong = [(x[k], y[k]) for k in np.flatnonzero(~same)]
        assert not wrong, f"{name} differs at {wrong[:5]}"
        seen.add(name)
    assert len(seen) > 40


NEEDS = [
    name for name in UNARY + BINARY + ["sincos"] if not name.startswith("sincos_")
]  # a light one needs nothing, but asking for it must not hurt


@pytest.mark.parametrize("name", NEEDS)
def test_asking_for_one_function_is_enough_to_use_it(name, compile_c):
    arguments = "x" if name in UNARY else "x, x"
    call = "v_sincos(x, p, p + 1)" if name == "sincos" else f"*p = v_{name}({arguments})"
    text = f"""
        #define HOMODYN_NEED_{name.upper()}
        #include "vector.h"
        #include "elementary.h"
        void use(vreal *p) {{ vreal x = *p; {call}; }}
    """
    compile_c(text, "-DLANES=4", "-O0")


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="narrow vectors of x86-64 only"
)
def test_wide_vectors_on_a_narrow_processor_give_the_same_bits(compile_c, evaluators):
    evaluate = evaluator(compile_c(DRIVER, "-DLANES=8", "-march=x86-64"))
    x, y = mixed_arguments(np.random.default_rng(4))
    for name in UNARY + BINARY:
        assert same_bits(evaluate(name, x, y), evaluators[8, False](name, x, y)).all(), name
