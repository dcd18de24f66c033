"""Why an answer is what it is: what is missed, what holds it back, and what to try.

Rows and unknowns of a problem are many; a person thinks in phases, coordinates and conditions. So
findings are told by group, such as "friction cone of toe in phase push", each with the instant
where it is worst.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from homodyn.optimal.build import Built
    from homodyn.optimal.solution import Solution

SATURATED = 1e-4
"""A control within this part of its range of a bound is saturated."""
DOMINATES = 0.05
"""Rows or bounds of one kind whose multipliers are at least this part of all hold it back."""
FLAT, STEEP = 1e-6, 1e4
"""Largest derivative of a row towards an unknown, both in units of the problem, beyond which the
unknown is badly scaled: nothing depends on it, or everything does."""
FAR = 1e3
"""An unknown that is this many of its units is badly scaled too."""

_PLACE = re.compile(r"(?P<phase>phase '.*?'|whole movement)(, )?(?P<where>.*)")
_PART = re.compile(r", [\d.]+%")


@dataclass(frozen=True)
class Group:
    """Rows or unknowns of one kind in one phase, and the worst of them."""

    what: str
    """Phase, then condition or quantity, then coordinate or contact."""
    count: int
    worst: str
    """Where the worst of them stands: node and time."""
    amount: float
    """Of the worst, in its own unit; or the share of all, for multipliers."""


@dataclass(frozen=True)
class Explanation:
    """What a solution shows when it is looked at closely."""

    missed: tuple[Group, ...]
    """Conditions that are not obeyed, the worst first."""
    saturated: tuple[Group, ...]
    """Unknowns on a bound; ``amount`` is the bound."""
    holding: tuple[Group, ...]
    """Conditions whose multipliers dominate: the objective pushes against these."""
    pressing: tuple[Group, ...]
    """Bounds whose multipliers dominate among those of bounds."""
    badly_scaled: tuple[Group, ...]
    """Unknowns whose units do not fit; ``amount`` is their largest scaled derivative or size."""
    costly: tuple[Group, ...]
    """By term of the objective, where it costs most; ``amount`` is its sum."""
    advice: tuple[str, ...]


def explained(solution: Solution) -> Explanation:
    """Look at a solution closely."""
    built, x = solution.built, solution.x
    missed = _missed(solution)
    saturated = _saturated(built, x)
    holding = _holding(solution)
    scaled = _badly_scaled(built, x) if np.isfinite(x).all() else ()
    advice = _advice(solution, missed, saturated, holding, scaled)
    costly, pressing = _costly(solution), _pressing(solution)
    return Explanation(missed, saturated, holding, pressing, scaled, costly, advice)


def as_text(solution: Solution, found: Explanation, most: int) -> str:
    """The explanation in lines, at most so many of each kind."""
    lines = [solution.sentence]
    lines += [f"  {g.what}: {g.amount:.6g}, most at {g.worst}" for g in found.costly]
    if solution.violations:
        lines.append("not obeyed, worst first:")
        lines += [f"  {violation}" for violation in solution.violations[:most]]
        for g in found.missed[:most]:
            if g.count > 1:
                lines.append(f"  {g.what}: {g.count} times, by up to {g.amount:.3g} at {g.worst}")
    if found.holding:
        lines.append("what the answer pushes against (share of all multipliers):")
        lines += [f"  {g.what}: {g.amount:.0%}, most at {g.worst}" for g in found.holding[:most]]
    if found.pressing:
        lines.append("bounds that it pushes against (share of their multipliers):")
        lines += [f"  {g.what}: {g.amount:.0%}, most at {g.worst}" for g in found.pressing[:most]]
    if found.saturated:
        lines.append(f"on a bound ({sum(g.count for g in found.saturated)}):")
        lines += [
            f"  {g.what} at {g.amount:.4g}" + (f", {g.count} times" if g.count > 1 else "")
            for g in found.saturated[:most]
        ]
    if found.badly_scaled:
        lines.append("badly scaled:")
        lines += [f"  {g.what}: {g.worst} {g.amount:.2g}" for g in found.badly_scaled[:most]]
    lines += [f"try: {advice}" for advice in found.advice]
    return "\n".join(lines)


def _missed(solution: Solution) -> tuple[Group, ...]:
    groups: dict[str, list[tuple[float, str]]] = {}
    for violation in solution.violations:
        phase, where = _split(violation.place)
        groups.setdefault(f"{phase}, {violation.what}", []).append((violation.amount, where))
    # Violations come sorted in scaled units, so the order of the groups is that of their worst.
    return tuple(Group(what, len(v), *max(v)[::-1]) for what, v in groups.items())


def _holding(solution: Solution) -> tuple[Group, ...]:
    """Kinds of inequalities whose multipliers, in scaled units, make up most of all."""
    program, given = solution.built.program, solution.multipliers
    if len(given) != program.rows:
        return ()
    # Equations of motion always push back; what can be changed is what is not an equation.
    sizes = np.where(program.lower < program.upper, np.abs(given / program.row_scale), 0.0)

    def named(row: int) -> tuple[str, str]:
        place, what = program.row_name(row)
        phase, where = _split(place)
        return f"{phase}, {what}", where

    return _dominating(sizes, named)


def _pressing(solution: Solution) -> tuple[Group, ...]:
    """The same for bounds of unknowns."""
    built, given = solution.built, solution.bound_multipliers
    if len(given) != len(built.names):
        return ()
    sizes = np.where(built.lower < built.upper, np.abs(given * built.scale), 0.0)

    def named(entry: int) -> tuple[str, str]:
        name = built.names[entry]
        part = _PART.search(name)
        return _PART.sub("", name), part[0].removeprefix(", ") if part else name

    return _dominating(sizes, named)


def _dominating(sizes: np.ndarray, named: Callable[[int], tuple[str, str]]) -> tuple[Group, ...]:
    """Groups that make up at least a part of all sizes, the largest first."""
    total = float(sizes.sum())
    if not (np.isfinite(total) and total > 0):
        return ()
    groups: dict[str, list[tuple[float, str]]] = {}
    for k in np.flatnonzero(sizes > 1e-6 * total):
        what, where = named(int(k))
        groups.setdefault(what, []).append((float(sizes[k]), where))
    shares = [
        Group(what, len(own), max(own)[1], sum(size for size, _ in own) / total)
        for what, own in groups.items()
    ]
    return tuple(sorted((g for g in shares if g.amount >= DOMINATES), key=lambda g: -g.amount))


def saturated_entries(built: Built, x: np.ndarray) -> np.ndarray:
    """Places of the unknowns that lie on a bound which is not an equation."""
    free = built.lower < built.upper
    room = np.where(np.isfinite(built.upper - built.lower), built.upper - built.lower, built.scale)
    near = np.minimum(x - built.lower, built.upper - x) <= SATURATED * room
    return np.flatnonzero(free & near)


def _saturated(built: Built, x: np.ndarray) -> tuple[Group, ...]:
    groups: dict[tuple[str, float], int] = {}
    for k in saturated_entries(built, x):
        low = x[k] - built.lower[k] <= built.upper[k] - x[k]
        bound = float(built.lower[k] if low else built.upper[k])
        key = (_PART.sub("", built.names[k]), bound)
        groups[key] = groups.get(key, 0) + 1
    found = [Group(name, count, "", bound) for (name, bound), count in groups.items()]
    return tuple(sorted(found, key=lambda g: -g.count))


def _badly_scaled(built: Built, x: np.ndarray) -> tuple[Group, ...]:
    """Unknowns that rows hardly see, or see too well, and those far from their unit."""
    program = built.program
    rows, columns = program.jacobian_places
    _, values = program.slopes(x)
    slopes = np.abs(values * program.row_scale[rows] * built.scale[columns])
    steepest = np.zeros(len(built.names))
    np.maximum.at(steepest, columns, slopes)
    seen = np.zeros(len(built.names), dtype=bool)
    seen[columns] = True
    free = built.lower < built.upper
    judged: dict[str, tuple[int, str, float]] = {}
    for says, chosen, amounts in (
        ("the steepest row has", free & seen & (steepest < FLAT), steepest),
        ("the steepest row has", free & seen & (steepest > STEEP), steepest),
        ("units in its size", free & (np.abs(x) > FAR * built.scale), np.abs(x) / built.scale),
    ):
        for k in np.flatnonzero(chosen):
            name = _PART.sub("", built.names[k])
            count = judged.get(name, (0, says, 0.0))[0]
            judged[name] = (count + 1, says, float(amounts[k]))
    return tuple(Group(name, n, says, size) for name, (n, says, size) in judged.items())


def _costly(solution: Solution) -> tuple[Group, ...]:
    """Each term with the place at which it costs most."""
    costs, _ = solution.built.program.evaluate(solution.x)
    peaks: dict[str, tuple[float, str]] = {}
    for block, values in zip(solution.built.blocks, costs, strict=True):
        for n, term in enumerate(block.terms):
            k = int(np.argmax(np.nan_to_num(np.abs(values[:, n]))))
            peak = (float(np.abs(values[k, n])), _split(block.places[k])[1])
            key = f"{block.name}: {term}"
            peaks[key] = max(peaks.get(key, peak), peak)
    return tuple(Group(name, 1, peaks[name][1], value) for name, value in solution.terms.items())


def _split(place: str) -> tuple[str, str]:
    """Phase, and node with its time."""
    found = _PLACE.fullmatch(place)
    return (found["phase"], found["where"] or found["phase"]) if found else (place, place)


CURES = (
    ("friction", "more friction, or let the feet stand elsewhere"),
    ("unilateral", "phases that end before a foot would have to pull, or free durations"),
    ("periodicity", "another speed or step length, or wider bounds of what has to come back"),
    ("step length", "wider bounds of the step length, or another speed"),
    ("height", "a guess whose feet are above the ground, or less clearance"),
    ("distance", "a guess whose limbs are apart, or less clearance"),
    ("placed", "a guess whose feet stand where the contacts are anchored"),
)
"""Words in the names of conditions, and what may help when they are missed or hold back."""
SMOOTHER = (
    ("step of", "more intervals, or a guess whose velocities fit its positions"),
    ("slope of", "more intervals, or a guess whose velocities fit its positions"),
    ("balance", "wider bounds of torques or forces; a guess from hd.capture.inverse_dynamics"),
)
"""The same for equations, which are missed where something else stands in the way, too."""


def _advice(
    solution: Solution,
    missed: Sequence[Group],
    saturated: Sequence[Group],
    holding: Sequence[Group],
    scaled: Sequence[Group],
) -> tuple[str, ...]:
    status = solution.status
    if status.good and not missed:
        return ()
    if status == "too coarse":
        return ("more intervals, or transcription='collocation', with guess=this solution",)
    advice = []
    words = " ".join(g.what for g in (*missed[:20], *holding[:5]))
    advice += [cure for word, cure in CURES if word in words]
    # Equations are missed because bounds do not let them be met, more often than by the mesh.
    bounded = [g.what for g in saturated if " of " in g.what or "duration" in g.what]
    if bounded:
        advice.append(f"wider bounds of {', '.join(bounded[:3])}")
    advice += [cure for word, cure in SMOOTHER if word in words]
    known = (*CURES, *SMOOTHER)
    own = [g.what for g in missed if not any(word in g.what for word, _ in known)]
    if own:
        advice.append(f"leave out {own[0]}, and see whether the rest can be obeyed")
    if scaled:
        advice.append(f"another unit for {scaled[0].what}, or bounds that keep it near its guess")
    if missed:
        advice.append("oc.culprits(problem), which solves without each demand in turn")
    if status in ("out of iterations", "out of time"):
        advice.append("solve again with guess=this solution, on a coarser mesh first")
    return tuple(dict.fromkeys(advice)) or ("fewer conditions at once, then guess=that solution",)
