"""Reference solutions of contact problems: enumeration of every mode of every row."""

from itertools import product

import numpy as np
from scipy.optimize import brentq

from homodyn.simulate.solvers import ConeProblem


def solve_by_enumeration(problem, accept=1e-8):
    """The first solution among all modes: open, sticking or sliding; lower, inside or upper.

    Cones have one tangent; or there is one cone with two, and its slip angles are searched.
    """
    choices = []
    for i in problem.bounded:
        choices.append([("bounded", i, mode) for mode in ("inside", "lower", "upper")])
    for k, cone in enumerate(problem.cones):
        modes = ["open", "stick"]
        modes += [1.0, -1.0] if len(cone) == 2 else ["slide"]
        choices.append([("cone", k, mode) for mode in modes])
    for modes in product(*choices):
        for force in _candidates(problem, modes):
            if force is not None and law_violation(problem, force) < accept:
                return force
    return None


def _candidates(problem, modes):
    sliding = [part for part in modes if part[2] == "slide"]
    if not sliding:
        yield _solve_modes(problem, modes, None)
        return
    assert len(sliding) == 1
    _, *tangents = problem.cones[sliding[0][1]]

    def misfit(angle):
        force = _solve_modes(problem, modes, angle)
        if force is None:
            return np.nan
        slip = problem.A[tangents] @ force + problem.b[tangents]
        return -np.sin(angle) * slip[0] + np.cos(angle) * slip[1]

    grid = np.linspace(0, 2 * np.pi, 721)
    values = [misfit(a) for a in grid]
    for a, b, u, v in zip(grid, grid[1:], values, values[1:], strict=False):
        if np.isfinite(u) and np.isfinite(v) and u * v <= 0:
            yield _solve_modes(problem, modes, brentq(misfit, a, b, xtol=1e-15))


def _solve_modes(problem, modes, angle):
    """Forces for fixed modes, by linear equations."""
    m = problem.size
    rows, right = [], []
    unit = np.eye(m)

    def add_zero_motion(i):
        rows.append(problem.A[i])
        right.append(-problem.b[i])

    for kind, which, mode in modes:
        if kind == "bounded":
            if mode == "inside":
                add_zero_motion(which)
            else:
                bound = problem.lower[which] if mode == "lower" else problem.upper[which]
                if not np.isfinite(bound):
                    return None
                rows.append(unit[which])
                right.append(bound)
            continue
        n, *tangents = problem.cones[which]
        mu = problem.friction[which]
        if mode == "open":
            for i in (n, *tangents):
                rows.append(unit[i])
                right.append(0.0)
            continue
        add_zero_motion(n)
        if mode == "stick":
            for t in tangents:
                add_zero_motion(t)
        elif mode == "slide":
            for t, part in zip(tangents, (np.cos(angle), np.sin(angle)), strict=True):
                rows.append(unit[t] - mu * part * unit[n])
                right.append(0.0)
        else:
            rows.append(unit[tangents[0]] - mode * mu * unit[n])
            right.append(0.0)
    return np.linalg.lstsq(np.array(rows), np.array(right), rcond=1e-13)[0]


def law_violation(problem, force):
    """The largest violation of the contact law, written as the law is stated."""
    w = problem.A @ force + problem.b
    size_f, size_w = np.abs(force).max(initial=1.0), np.abs(problem.b).max(initial=1e-30)
    worst = [0.0]
    for i in problem.bounded:
        low, high, f = problem.lower[i], problem.upper[i], force[i]
        worst += [(low - f) / size_f, (f - high) / size_f]
        worst.append(min((f - low) / size_f, w[i] / size_w) if w[i] > 0 else 0.0)
        worst.append(min((high - f) / size_f, -w[i] / size_w) if w[i] < 0 else 0.0)
    for k, (n, *tangents) in enumerate(problem.cones):
        mu, f, t = problem.friction[k], force[n], force[list(tangents)]
        slip = w[list(tangents)]
        worst += [-f / size_f, -w[n] / size_w, min(abs(f) / size_f, abs(w[n]) / size_w)]
        worst.append((np.linalg.norm(t) - mu * f) / size_f)
        if np.linalg.norm(slip) > 0:
            # Friction opposes sliding with its maximum.
            deviation = np.linalg.norm(t + mu * f * slip / np.linalg.norm(slip)) / size_f
            worst.append(min(deviation, np.linalg.norm(slip) / size_w))
    return max(worst)


def random_problem(rng, *, cones, tangents, extra, dependent=False, frictions=(0.0, 0.3, 0.8)):
    """A feasible problem: rows of a random system, dependent or independent."""
    m = cones * (1 + tangents) + extra
    dofs = max(1, m - int(rng.integers(1, 3))) if dependent else m + int(rng.integers(0, 3))
    G = rng.normal(size=(m, dofs))
    b = G @ rng.normal(size=dofs)
    lower, upper = np.zeros(m), np.full(m, np.inf)
    kinds = [(-np.inf, np.inf), (-0.5, 0.5), (0.0, np.inf), (-np.inf, 0.0), (0.1, 0.3)]
    start = cones * (1 + tangents)
    for i in range(start, m):
        lower[i], upper[i] = kinds[rng.integers(len(kinds) - (1 if dependent else 0))]
    rows = np.arange(start).reshape(cones, 1 + tangents)
    return ConeProblem(
        G @ G.T, b, tuple(map(tuple, rows)), rng.choice(frictions, size=cones), lower, upper
    )
