"""Compute the polynomial coefficients of src/homodyn/symbolic/c/elementary.h.

Each polynomial is the minimax fit of a smooth factor of one function, found by Remez exchange in
60 digits. On an interval that starts at zero the first coefficients carry most of the value, so
they are rounded to double one after another, each time refitting those that remain: the rounding
of one is absorbed by the next.

Run it to print every table as C initializers, with the bound of its relative error.
"""

from collections.abc import Callable

import mpmath as mp

Function = Callable[[mp.mpf], mp.mpf]

mp.mp.dps = 60


def chebyshev_points(low: mp.mpf, high: mp.mpf, count: int) -> list[mp.mpf]:
    """Chebyshev points of an interval, without its ends."""
    middle, half = (low + high) / 2, (high - low) / 2
    return [middle - half * mp.cos(mp.pi * (2 * k + 1) / (2 * count)) for k in range(count)]


def remez(
    f: Function, weight: Function, low: mp.mpf, high: mp.mpf, first: int, count: int
) -> tuple[list[mp.mpf], mp.mpf]:
    """Fit f by sum c_k x^(first+k), minimizing the largest weight * |error| on [low, high].

    Returns the coefficients and that largest weighted error.
    """
    dense = chebyshev_points(low, high, 40 * (count + 2))
    values = [f(x) for x in dense]
    weights = [weight(x) for x in dense]
    step = len(dense) / (count + 1)
    chosen = [min(int((k + 0.5) * step), len(dense) - 1) for k in range(count + 1)]
    coefficients: list[mp.mpf] = []
    for _ in range(30):
        matrix = mp.matrix(count + 1)
        right = mp.matrix(count + 1, 1)
        for row, point in enumerate(chosen):
            for k in range(count):
                matrix[row, k] = weights[point] * dense[point] ** (first + k)
            matrix[row, count] = (-1) ** row
            right[row] = weights[point] * values[point]
        solution = mp.lu_solve(matrix, right)
        coefficients = [solution[k] for k in range(count)]
        error = [
            w * (v - x**first * mp.polyval(coefficients[::-1], x))
            for x, v, w in zip(dense, values, weights, strict=True)
        ]
        extrema: list[int] = []
        for point, e in enumerate(error):
            if extrema and (error[extrema[-1]] > 0) == (e > 0):
                if abs(e) > abs(error[extrema[-1]]):
                    extrema[-1] = point
            else:
                extrema.append(point)
        while len(extrema) > count + 1:
            drop_first = abs(error[extrema[0]]) < abs(error[extrema[-1]])
            extrema.pop(0 if drop_first else -1)
        if len(extrema) < count + 1 or extrema == chosen:
            break
        chosen = extrema
    return coefficients, max(abs(e) for e in error)


def rounded_fit(
    f: Function, weight: Function, low: mp.mpf, high: mp.mpf, count: int
) -> tuple[list[float], float]:
    """Return `count` double coefficients, lowest power first, and their largest weighted error."""
    fixed: list[float] = []

    def remainder(x: mp.mpf) -> mp.mpf:
        return f(x) - mp.polyval([mp.mpf(c) for c in fixed[::-1]] or [0], x)

    # Where zero lies inside the interval all powers from x upwards vanish there: no refit.
    refits = 3 if low >= 0 else 0
    while len(fixed) < count:
        left = count - len(fixed)
        coefficients, _ = remez(remainder, weight, low, high, len(fixed), left)
        fixed += [float(c) for c in coefficients[: 1 if len(fixed) < refits else left]]
    worst = max(
        abs(weight(x) * remainder(x)) for x in chebyshev_points(low, high, 40 * (count + 2))
    )
    return fixed, float(mp.log(worst, 2))


def near_zero(f: Function, series: Callable[[mp.mpf], mp.mpf]) -> Function:
    """Use `series` where the closed form of f would cancel."""
    return lambda x: series(x) if abs(x) < mp.mpf("1e-8") else f(x)


QUARTER = (mp.pi / 4) * mp.mpf("1.0001")
HALF_LN2 = mp.log(2) / 2 * mp.mpf("1.0005")
LOG_EDGE = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1) * mp.mpf("1.0005")) ** 2
ERF_JOIN = mp.mpf(1)
ERF_CENTER = mp.mpf(2)


def erfcx_of_map(t: mp.mpf) -> mp.mpf:
    """exp(x^2) erfc(x) with t = (x - 2) / (x + 2)."""
    x = ERF_CENTER * (1 + t) / (1 - t)
    return mp.exp(x * x) * mp.erfc(x)


def tables() -> dict[str, tuple[Function, Function, mp.mpf, mp.mpf, int]]:
    """Name -> (factor to fit, weight that makes its error relative, interval, how many)."""
    root = mp.sqrt
    return {
        "SIN": (
            near_zero(
                lambda z: (mp.sin(root(z)) / root(z) - 1) / z,
                lambda z: -mp.mpf(1) / 6 + z / 120 - z * z / 5040,
            ),
            lambda z: z,
            mp.mpf(0),
            QUARTER**2,
            6,
        ),
        "COS": (
            near_zero(
                lambda z: (mp.cos(root(z)) - 1 + z / 2) / z**2,
                lambda z: mp.mpf(1) / 24 - z / 720 + z * z / 40320,
            ),
            lambda z: z * z,
            mp.mpf(0),
            QUARTER**2,
            6,
        ),
        "EXP": (
            near_zero(
                lambda r: (mp.exp(r) - 1 - r - r * r / 2) / r**3,
                lambda r: mp.mpf(1) / 6 + r / 24 + r * r / 120 + r**3 / 720,
            ),
            lambda r: mp.mpf(HALF_LN2) ** 2,
            -HALF_LN2,
            HALF_LN2,
            10,
        ),
        "LOG": (
            near_zero(
                lambda w: (2 * mp.atanh(root(w)) / root(w) - 2 - 2 * w / 3) / w**2,
                lambda w: mp.mpf(2) / 5 + 2 * w / 7 + 2 * w**2 / 9,
            ),
            lambda w: w * w / 2,
            mp.mpf(0),
            LOG_EDGE,
            8,
        ),
        "ASIN": (
            near_zero(
                lambda z: (mp.asin(root(z)) / root(z) - 1) / z,
                lambda z: mp.mpf(1) / 6 + 3 * z / 40 + 15 * z * z / 336,
            ),
            lambda z: z,
            mp.mpf(0),
            mp.mpf("0.25"),
            13,
        ),
        "ATAN": (
            near_zero(
                lambda z: (mp.atan(root(z)) / root(z) - 1) / z,
                lambda z: -mp.mpf(1) / 3 + z / 5 - z * z / 7,
            ),
            lambda z: z,
            mp.mpf(0),
            mp.mpf(1),
            20,
        ),
        "ERF": (
            near_zero(
                lambda z: (mp.erf(root(z)) / root(z) - 2 / root(mp.pi)) / z,
                lambda z: 2 / root(mp.pi) * (-mp.mpf(1) / 3 + z / 10 - z * z / 42),
            ),
            lambda z: z,
            mp.mpf(0),
            ERF_JOIN**2 * mp.mpf("1.001"),
            12,
        ),
        "ERFC": (
            erfcx_of_map,
            lambda t: mp.erfc(ERF_CENTER * (1 + t) / (1 - t)) / erfcx_of_map(t),
            (ERF_JOIN - ERF_CENTER) / (ERF_JOIN + ERF_CENTER) * mp.mpf("1.001"),
            (6 - ERF_CENTER) / (6 + ERF_CENTER),
            20,
        ),
    }


if __name__ == "__main__":
    for name, (f, weight, low, high, count) in tables().items():
        coefficients, bits = rounded_fit(f, weight, low, high, count)
        print(f"{name}: relative error 2^{bits:.1f}")
        for c in coefficients:
            print(f"    {c.hex()},")
