"""Diagnostics of a solution: violations, active constraints, scaling, and advice.

A problem has thousands of rows and variables. Findings are therefore grouped by phase, coordinate
and constraint, such as "friction cone of toe in phase push", each with the location where it is
worst.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.optimal.nlp.transcribed_problem import TranscribedProblem
from homodyn.optimal.solve.solve_status import SolveStatus
from homodyn.optimal.solve.solved_times import solved_location
from homodyn.optimal.solve.solver_result import SolverResult, active_bound_entries

DOMINANT_SHARE = 0.05
"""Groups of rows or bounds with at least this share of all multipliers are dominant."""
MIN_SCALED_DERIVATIVE, MAX_SCALED_DERIVATIVE = 1e-6, 1e4
"""Range of the largest scaled derivative of a row in a variable; beyond it the variable is badly
scaled: nothing depends on it, or everything does."""
MAX_SCALED_VALUE = 1e3
"""A variable that is this many times its scale is badly scaled, too."""

_LOCATION = re.compile(r"(?P<phase>phase '.*?'|whole movement)(, )?(?P<where>.*)")
_FRACTION = re.compile(r", [\d.]+%")


@record(eq=True)
class DiagnosticGroup(Record):
    """Rows or variables of one kind in one phase, and the worst of them."""

    name: str
    """Phase, then constraint or quantity, then coordinate or contact."""
    count: int
    """Number of rows or variables."""
    location: str
    """Node of the worst of them, and its time (s) from the start of the movement."""
    amount: float
    """Of the worst, in its own unit; or the share of all, for multipliers."""

    def headline(self) -> str:
        """Name and amount."""
        return f"{self.name}: {self.amount:.4g}"


@record
class Diagnostics(Record):
    """What a solution shows on close inspection."""

    violated: tuple[DiagnosticGroup, ...]
    """Violated constraints, the worst first."""
    active_bounds: tuple[DiagnosticGroup, ...]
    """Variables on a bound; ``amount`` is the bound."""
    dominant_constraints: tuple[DiagnosticGroup, ...]
    """Constraints with the largest multipliers: relaxing them improves the objective most."""
    dominant_bounds: tuple[DiagnosticGroup, ...]
    """Bounds with the largest multipliers among those of bounds."""
    badly_scaled: tuple[DiagnosticGroup, ...]
    """Badly scaled variables; ``amount`` is their largest scaled derivative or value."""
    costs: tuple[DiagnosticGroup, ...]
    """By objective term, where it costs most; ``amount`` is its sum."""
    advice: tuple[str, ...]
    """What to try."""


def diagnose(result: SolverResult) -> Diagnostics:
    """Inspect a solution.

    Args:
        result: The solution.

    Returns:
        The diagnostics.
    """
    transcribed, x = result.transcribed, result.x
    violated = _violated_rows(result)
    active_bounds = _active_bounds(transcribed, x)
    dominant = _dominant_constraints(result)
    scaled = _badly_scaled(transcribed, x) if np.isfinite(x).all() else ()
    advice = _advice(result, violated, active_bounds, dominant, scaled)
    costs, bounds = _term_costs(result), _dominant_bounds(result)
    return Diagnostics(violated, active_bounds, dominant, bounds, scaled, costs, advice)


def format_diagnostics(result: SolverResult, found: Diagnostics, limit: int) -> str:
    """The diagnostics as text, with at most ``limit`` lines of each kind."""
    lines = [result.sentence, "times of nodes are from the start of the movement"]
    lines += [f"  {g.name}: {g.amount:.6g}, most at {g.location}" for g in found.costs]
    if result.violations:
        lines.append("violated constraints, worst first:")
        lines += [f"  {violation}" for violation in result.violations[:limit]]
        lines += [
            f"  {g.name}: {g.count} times, by up to {g.amount:.3g} at {g.location}"
            for g in found.violated[:limit]
            if g.count > 1
        ]
    if found.dominant_constraints:
        lines.append("dominant constraints (share of all multipliers):")
        lines += _share_lines(found.dominant_constraints[:limit])
    if found.dominant_bounds:
        lines.append("dominant bounds (share of their multipliers):")
        lines += _share_lines(found.dominant_bounds[:limit])
    if found.active_bounds:
        lines.append(f"active bounds ({sum(g.count for g in found.active_bounds)}):")
        lines += [
            f"  {g.name} at {g.amount:.4g}" + (f", {g.count} times" if g.count > 1 else "")
            for g in found.active_bounds[:limit]
        ]
    if found.badly_scaled:
        lines.append("badly scaled variables:")
        lines += [f"  {g.name}: {g.location} {g.amount:.2g}" for g in found.badly_scaled[:limit]]
    lines += [f"try: {advice}" for advice in found.advice]
    return "\n".join(lines)


def _share_lines(groups: Sequence[DiagnosticGroup]) -> list[str]:
    return [f"  {g.name}: {g.amount:.0%}, most at {g.location}" for g in groups]


def _violated_rows(result: SolverResult) -> tuple[DiagnosticGroup, ...]:
    groups: dict[str, list[tuple[float, str]]] = {}
    for violation in result.violations:
        phase, where = _split_location(violation.location)
        groups.setdefault(f"{phase}, {violation.constraint}", []).append((violation.amount, where))
    # Violations are sorted in scaled units, so groups are in the order of their worst.
    return tuple(DiagnosticGroup(name, len(v), *max(v)[::-1]) for name, v in groups.items())


def _dominant_constraints(result: SolverResult) -> tuple[DiagnosticGroup, ...]:
    """Groups of inequalities whose scaled multipliers make up most of all."""
    program, multipliers = result.transcribed.program, result.multipliers
    if len(multipliers) != program.rows:
        return ()
    # Multipliers of equations of motion are never zero; only inequalities can be relaxed.
    sizes = np.where(program.lower < program.upper, np.abs(multipliers / program.row_scale), 0.0)

    def label(row: int) -> tuple[str, str]:
        location, constraint = program.row_label(row)
        phase, where = _split_location(solved_location(location, result.phases))
        return f"{phase}, {constraint}", where

    return _dominant_groups(sizes, label)


def _dominant_bounds(result: SolverResult) -> tuple[DiagnosticGroup, ...]:
    """The same for bounds of variables."""
    transcribed, multipliers = result.transcribed, result.bound_multipliers
    if len(multipliers) != len(transcribed.names):
        return ()
    free = transcribed.lower < transcribed.upper
    sizes = np.where(free, np.abs(multipliers * transcribed.scale), 0.0)

    def label(entry: int) -> tuple[str, str]:
        name = transcribed.names[entry]
        fraction = _FRACTION.search(name)
        where = fraction[0].removeprefix(", ") if fraction else name
        return _FRACTION.sub("", name), where

    return _dominant_groups(sizes, label)


def _dominant_groups(
    sizes: np.ndarray, label: Callable[[int], tuple[str, str]]
) -> tuple[DiagnosticGroup, ...]:
    """Groups with at least `DOMINANT_SHARE` of the sum of sizes, the largest first."""
    total = float(sizes.sum())
    if not (np.isfinite(total) and total > 0):
        return ()
    groups: dict[str, list[tuple[float, str]]] = {}
    for k in np.flatnonzero(sizes > 1e-6 * total):
        name, where = label(int(k))
        groups.setdefault(name, []).append((float(sizes[k]), where))
    shares = [
        DiagnosticGroup(name, len(own), max(own)[1], sum(size for size, _ in own) / total)
        for name, own in groups.items()
    ]
    dominant = (g for g in shares if g.amount >= DOMINANT_SHARE)
    return tuple(sorted(dominant, key=lambda g: -g.amount))


def _active_bounds(transcribed: TranscribedProblem, x: np.ndarray) -> tuple[DiagnosticGroup, ...]:
    groups: dict[tuple[str, float], int] = {}
    for k in active_bound_entries(transcribed, x):
        low = x[k] - transcribed.lower[k] <= transcribed.upper[k] - x[k]
        bound = float(transcribed.lower[k] if low else transcribed.upper[k])
        key = (_FRACTION.sub("", transcribed.names[k]), bound)
        groups[key] = groups.get(key, 0) + 1
    found = [DiagnosticGroup(name, count, "", bound) for (name, bound), count in groups.items()]
    return tuple(sorted(found, key=lambda g: -g.count))


def _badly_scaled(transcribed: TranscribedProblem, x: np.ndarray) -> tuple[DiagnosticGroup, ...]:
    """Variables with extreme derivatives, or far from their scale."""
    program, scale = transcribed.program, transcribed.scale
    rows, columns = program.jacobian_entries
    _, values = program.first_derivatives(x)
    slopes = np.abs(values * program.row_scale[rows] * scale[columns])
    steepest = np.zeros(len(transcribed.names))
    np.maximum.at(steepest, columns, slopes)
    used = np.zeros(len(transcribed.names), dtype=bool)
    used[columns] = True
    free = transcribed.lower < transcribed.upper
    groups: dict[str, tuple[int, str, float]] = {}
    for text, chosen, amounts in (
        ("largest scaled derivative", free & used & (steepest < MIN_SCALED_DERIVATIVE), steepest),
        ("largest scaled derivative", free & used & (steepest > MAX_SCALED_DERIVATIVE), steepest),
        ("value over scale", free & (np.abs(x) > MAX_SCALED_VALUE * scale), np.abs(x) / scale),
    ):
        for k in np.flatnonzero(chosen):
            name = _FRACTION.sub("", transcribed.names[k])
            count = groups.get(name, (0, text, 0.0))[0]
            groups[name] = (count + 1, text, float(amounts[k]))
    return tuple(DiagnosticGroup(name, n, text, a) for name, (n, text, a) in groups.items())


def _term_costs(result: SolverResult) -> tuple[DiagnosticGroup, ...]:
    """Each term with the location at which it costs most."""
    costs, _ = result.transcribed.program.evaluate(result.x)
    peaks: dict[str, tuple[float, str]] = {}
    for block, values in zip(result.transcribed.blocks, costs, strict=True):
        for n, term in enumerate(block.terms):
            k = int(np.argmax(np.nan_to_num(np.abs(values[:, n]))))
            location = solved_location(block.point_labels[k], result.phases)
            peak = (float(np.abs(values[k, n])), _split_location(location)[1])
            key = f"{block.name}: {term}"
            peaks[key] = max(peaks.get(key, peak), peak)
    return tuple(
        DiagnosticGroup(name, 1, peaks[name][1], value) for name, value in result.terms.items()
    )


def _split_location(location: str) -> tuple[str, str]:
    """Phase, and node with its time."""
    found = _LOCATION.fullmatch(location)
    return (found["phase"], found["where"] or found["phase"]) if found else (location, location)


REMEDIES = (
    ("friction", "more friction, or other positions of the feet"),
    ("unilateral", "phases that end before a contact force becomes tensile, or free durations"),
    ("periodicity", "another speed or step length, or wider bounds of the periodic quantities"),
    ("step length", "wider bounds of the step length, or another speed"),
    ("height", "a guess with the feet above the ground, or less clearance"),
    ("distance", "a guess with the limbs apart, or less clearance"),
    ("placed", "a guess with the feet where the contacts are anchored"),
)
"""Words in the names of constraints, and what may help when they are violated or dominant."""
EQUATION_REMEDIES = (
    ("step of", "more intervals, or a guess whose velocities match its positions"),
    ("slope of", "more intervals, or a guess whose velocities match its positions"),
    ("balance", "wider bounds of torques or forces; a guess of both from inverse dynamics"),
)
"""The same for equations, which are also violated where something else is infeasible."""


def _advice(
    result: SolverResult,
    violated: Sequence[DiagnosticGroup],
    active_bounds: Sequence[DiagnosticGroup],
    dominant: Sequence[DiagnosticGroup],
    scaled: Sequence[DiagnosticGroup],
) -> tuple[str, ...]:
    status = result.status
    if status.success and not violated:
        return ()
    if status is SolveStatus.COARSE:
        return ("more intervals, or transcription='collocation', with guess=this solution",)
    advice = []
    words = " ".join(g.name for g in (*violated[:20], *dominant[:5]))
    advice += [remedy for word, remedy in REMEDIES if word in words]
    # Equations are violated because of bounds more often than because of the mesh.
    bounded = [g.name for g in active_bounds if " of " in g.name or "duration" in g.name]
    if bounded:
        advice.append(f"wider bounds of {', '.join(bounded[:3])}")
    advice += [remedy for word, remedy in EQUATION_REMEDIES if word in words]
    known = (*REMEDIES, *EQUATION_REMEDIES)
    own = [g.name for g in violated if not any(word in g.name for word, _ in known)]
    if own:
        advice.append(f"solve without {own[0]}, and see whether the rest is feasible")
    if scaled:
        advice.append(f"another scale for {scaled[0].name}, or bounds that keep it near its guess")
    if violated:
        advice.append("oc.conflicting_constraints(problem), which relaxes each constraint in turn")
    if status in (SolveStatus.OUT_OF_ITERATIONS, SolveStatus.OUT_OF_TIME):
        advice.append("solve again with guess=this solution, on a coarser mesh first")
    default = "fewer constraints at once, then guess=that solution"
    return tuple(dict.fromkeys(advice)) or (default,)
