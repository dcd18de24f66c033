"""A phase written down: its places, its boundaries, and what changes between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import casadi as ca
import numpy as np

from homodyn.dynamics import row_names
from homodyn.errors import HomodynError
from homodyn.model import Model
from homodyn.optimal.block import Block
from homodyn.optimal.conditions import Condition
from homodyn.optimal.costs import Costs
from homodyn.optimal.instant import Instant
from homodyn.optimal.instant_maker import InstantMaker, Lift, Numbers
from homodyn.optimal.layout import PhaseLayout
from homodyn.optimal.phase import Phase, entry_names
from homodyn.optimal.samples import series
from homodyn.optimal.springs import Spring
from homodyn.optimal.terms import Term
from homodyn.optimal.transcription import Places, Sample, Transcription, moved
from homodyn.spatial import Array

Row = tuple[str, Array]


@dataclass(frozen=True, eq=False)
class Boundary:
    """The first or last instant of a phase, its symbols and their places."""

    instant: Instant
    symbols: ca.SX
    index: np.ndarray
    numbers: list[Numbers]


@dataclass(frozen=True, eq=False)
class Writer:
    """Writes the blocks of one phase."""

    model: Model
    layout: PhaseLayout
    transcription: Transcription
    parameters: Mapping[str, int]
    springs: tuple[Spring, ...] = ()
    resting: Sequence[int] = ()
    """Rows of the contacts that are told to stay where they are; the others then do."""

    @property
    def phase(self) -> Phase:
        """The phase that is written."""
        return self.layout.phase

    @cached_property
    def places(self) -> Places:
        """Where the phase is looked at."""
        return self.transcription.places(self.phase.intervals)

    @property
    def place_names(self) -> tuple[str, ...]:
        """What to call these places."""
        return tuple(self.place(node) for node in self.places.nodes)

    def blocks(self) -> list[Block]:
        """Places, what ties them together, changes between them, and both boundaries."""
        made = [*self._along_phase(), *self._ties(), *self._nodes()]
        made += [self._boundary_block("start"), self._boundary_block("end")]
        changing = [term for term in self.phase.terms if term.when == "change"]
        if changing and len(self.places.windows) > 1:
            made.append(self._changes(changing))
        return made

    @property
    def _along(self) -> list[Condition]:
        """Conditions of the intervals; inner ones too where samples lie inside intervals."""
        inner = self.transcription.name != "forward"
        places = ("path", "inside") if inner else ("path",)
        return [c for c in self.phase.conditions if c.when in places]

    def maker(self) -> tuple[InstantMaker, list[ca.SX], list[int]]:
        """A maker, and the symbols and places of duration and parameters."""
        low, high = self.phase.duration_bounds
        passed, part, duration = (ca.SX.sym(n) for n in ("passed", "part", "duration"))
        shared = {name: ca.SX.sym(name) for name in self.parameters}
        symbols, places = list(shared.values()), list(self.parameters.values())
        # A duration that is known stays out of all derivatives.
        if low < high:
            symbols, places = [duration, *symbols], [self.layout.duration, *places]
        motors = self.layout.actuated
        maker = InstantMaker(
            self.model,
            self.phase,
            motors,
            duration,
            passed,
            part,
            shared,
            self.springs,
            self.resting,
        )
        return maker, symbols, places

    def seen(self, window: Mapping[str, Sequence[int]]) -> np.ndarray:
        """Places of the unknowns that a window sees."""
        return np.concatenate(
            [np.zeros(0, dtype=int)]
            + [self.layout.index[key][n] for key, places in window.items() for n in places]
        )

    def symbols(
        self,
        window: Mapping[str, Sequence[int]],
        sizes: Mapping[str, int] = MappingProxyType({}),
    ) -> dict[str, list[ca.SX]]:
        """For each quantity of a window, symbols; ``sizes`` has those that are not usual."""
        return {
            key: [
                ca.SX.sym(f"{key}{n}", sizes.get(key, self.layout.index[key].shape[1]))
                for n in range(len(places))
            ]
            for key, places in window.items()
        }

    def _written(
        self, maker: InstantMaker, symbols: Mapping[str, list[ca.SX]]
    ) -> tuple[list[Sample], list[Row]]:
        """Samples of a place, and its equations where they are not shared with others."""
        if self.transcription.shares_motion:
            return self.transcription.samples(maker, symbols), []
        written = self.transcription.written(maker, symbols)
        return written.samples, written.rows

    def _along_phase(self) -> list[Block]:
        """Terms, and conditions apart from them: alike terms of phases are compiled once."""
        places = self.places
        maker, extra, shared = self.maker()
        symbols = self.symbols(places.windows[0])
        samples, own = self._written(maker, symbols)
        data = maker.numbers(places.passed, places.part)
        costs = Costs()
        for term in (t for t in self.phase.terms if t.when == "path"):
            for sample in samples:
                target = None
                if term.target is not None:
                    known = self._target(term, places.passed + sample.part * places.part)
                    target = ca.SX.sym("target", known.shape[1])
                    data.append((target, known))
                value = self._value(term, sample.instant, target)
                costs.add(term, value, target, sample.share * maker.step)
        rows, lower, upper = self.labelled(own)
        for sample in (s for s in samples if s.part < 1.0):
            self._add_conditions(
                self._along,
                sample.instant,
                rows,
                lower,
                upper,
            )
        z = ca.vertcat(*(s for group in symbols.values() for s in group), *extra)
        index = np.array([[*self.seen(at), *shared] for at in places.windows], dtype=int)
        names = self.place_names
        none: list[np.ndarray] = []
        plain, lifts = maker.numbers(places.passed, places.part), maker.lifts
        return [
            self._made(z, data, costs, [], none, none, index, names, lifts),
            self._made(z, plain, Costs(), rows, lower, upper, index, names, lifts),
        ]

    def _ties(self) -> list[Block]:
        """What ties the places of each interval together."""
        count = self.phase.intervals
        windows = [self.transcription.window(k) for k in range(count)]
        maker, extra, shared = self.maker()
        symbols = self.symbols(windows[0])
        rows, lower, upper = self.labelled(self.transcription.ties(maker, symbols))
        if not rows:
            return []
        z = ca.vertcat(*(s for group in symbols.values() for s in group), *extra)
        index = np.array([[*self.seen(at), *shared] for at in windows], dtype=int)
        numbers = maker.numbers(np.arange(count) / count, np.full(count, 1 / count))
        names = tuple(self.place(k + 0.5) for k in range(count))
        return [self._made(z, numbers, Costs(), rows, lower, upper, index, names)]

    def _nodes(self) -> list[Block]:
        """Inequalities at inner nodes, where controls that are polynomials are extrapolated to.

        From both sides, as far as controls stand in them: they may jump.
        """
        count, many = self.phase.intervals, len(self.transcription.edge(0.0))
        chosen = [c for c in self._along if not np.array_equal(c.lower, c.upper)]
        if many == 1 or count == 1 or not chosen:
            return []
        maker, extra, shared = self.maker()
        controls = ("a", "force", "tau")
        state = self.symbols({"q": [0], "v": [0]})
        before, after = (self.symbols(dict.fromkeys(controls, range(many))) for _ in range(2))
        rows: list[Row] = []
        lower: list[np.ndarray] = []
        upper: list[np.ndarray] = []
        for side, at in ((after, 0.0), (before, 1.0)):
            given = {key: _mixed(side[key], self.transcription.edge(at)) for key in controls}
            q, v = state["q"][0], state["v"][0]
            instant = maker(q, v, given["a"], given["tau"], given["force"], 0.0)
            found: list[Row] = []
            low: list[np.ndarray] = []
            high: list[np.ndarray] = []
            self._add_conditions(chosen, instant, found, low, high)
            kept = list(range(len(found)))
            if side is before:
                symbols = ca.vertcat(*(s for group in side.values() for s in group))
                values = ca.vertcat(ca.SX(0, 1), *(value for _, value in found))
                kept = sorted(set(ca.jacobian_sparsity(values, symbols).row()))
            rows += [found[k] for k in kept]
            lower.append(np.concatenate([np.zeros(0), *low])[kept])
            upper.append(np.concatenate([np.zeros(0), *high])[kept])
        groups = (state, before, after)
        z = ca.vertcat(*(s for g in groups for group in g.values() for s in group), *extra)
        nodes = np.arange(1, count)
        index = [
            [
                *self.seen({"q": [k], "v": [k]}),
                *self.seen(dict.fromkeys(controls, range(many * (k - 1), many * k))),
                *self.seen(dict.fromkeys(controls, range(many * k, many * (k + 1)))),
                *shared,
            ]
            for k in range(1, count)
        ]
        numbers = maker.numbers(nodes / count, np.full(count - 1, 1 / count))
        names = tuple(self.place(float(k)) for k in nodes)
        places = np.array(index, dtype=int)
        return [self._made(z, numbers, Costs(), rows, lower, upper, places, names)]

    def _changes(self, terms: list[Term]) -> Block:
        """Rates of change between the samples of neighbouring places."""
        places = self.places
        maker, extra, shared = self.maker()
        one, two = (self.symbols(places.windows[0]) for _ in range(2))
        gap, begins, lasts = (ca.SX.sym(name) for name in ("gap", "passed", "part"))
        costs = Costs()
        later = replace(maker, passed=begins, part=lasts, wrenches={})
        first, second = (
            self.transcription.samples(each, symbols)
            for each, symbols in ((maker, one), (later, two))
        )
        between = maker.duration * gap
        for term in terms:
            rate = (term.value(second[0].instant) - term.value(first[0].instant)) / between
            costs.add(term, rate, None, between)
        groups = [s for symbols in (one, two) for group in symbols.values() for s in group]
        z = ca.vertcat(*groups, *extra)
        index = np.array(
            [[*self.seen(a), *self.seen(b), *shared] for a, b in pairwise(places.windows)]
        )
        passed, part = places.passed, places.part
        known = [
            *maker.numbers(passed[:-1], part[:-1]),
            (begins, passed[1:, None]),
            (lasts, part[1:, None]),
            (gap, np.diff(passed)[:, None]),
            *later.loads_at(passed[1:], part[1:]),
        ]
        names = tuple(self.place(node) for node in (places.nodes[1:] + places.nodes[:-1]) / 2)
        return self._made(z, known, costs, [], [], [], index, names, maker.lifts)

    def boundary(self, at: str) -> Boundary:
        """The first or last instant, with controls as they are there."""
        maker, extra, shared = self.maker()
        n = 0 if at == "start" else -1
        weights = self.transcription.edge(float(at == "end"))
        keys = [k for k in ("q", "v", "a", "force", "tau") if k in self.layout.index]
        window: dict[str, list[int]] = {k: [n] for k in keys}
        for k in ("a", "force", "tau"):
            if k in window and len(weights) > 1:
                known = range(len(self.layout.index[k]))
                window[k] = list(known[: len(weights)] if n == 0 else known[-len(weights) :])
        symbols = self.symbols(window)
        made = {k: _mixed(symbols[k], weights) for k in keys if k not in ("q", "v")}
        q, v, tau = symbols["q"][0], symbols["v"][0], made["tau"]
        if "a" in made:
            a, force = made["a"], made["force"]
        else:
            drive = maker.torques(tau) + maker.besides(q, v, 0.0)
            a, force = moved(self.model, self.phase, q, v, drive)
        elapsed = ca.SX(0) if n == 0 else maker.duration
        instant = replace(maker(q, v, a, tau, force, 0.0), elapsed=elapsed)
        index = np.array([*self.seen(window), *shared], dtype=int)
        part = np.array([1 / self.phase.intervals])
        numbers = maker.numbers(np.array([0.0 if n == 0 else 1.0]), part)
        long = ca.vertcat(*(s for group in symbols.values() for s in group), *extra)
        return Boundary(instant, long, index, numbers)

    def _boundary_block(self, at: str) -> Block:
        edge = self.boundary(at)
        costs = Costs()
        for term in (t for t in self.phase.terms if t.when == at):
            target = None
            if term.target is not None:
                target = self._target(term, np.array([0.0 if at == "start" else 1.0]))[0]
            costs.add(term, self._value(term, edge.instant, target), target)
        rows: list[Row] = []
        lower: list[np.ndarray] = []
        upper: list[np.ndarray] = []
        chosen = [c for c in self.phase.conditions if c.when == at]
        if at == "end" and self.transcription.name == "forward":
            chosen += [c for c in self.phase.conditions if c.when == "path"]
        self._add_conditions(chosen, edge.instant, rows, lower, upper)
        place = (self.place(0 if at == "start" else self.phase.intervals),)
        index = edge.index[None, :]
        return self._made(edge.symbols, edge.numbers, costs, rows, lower, upper, index, place)

    def block(self, at: str, z: list[ca.SX], index: np.ndarray, rows: list[Row]) -> Block:
        """Equations at the boundary of a phase."""
        labelled, lower, upper = self.labelled(rows)
        place = (f"phase {self.phase.name!r}, {at}",)
        long = ca.vertcat(*z)
        return self._made(long, [], Costs(), labelled, lower, upper, index[None, :], place)

    def plain_block(
        self,
        place: str,
        z: ca.SX,
        index: np.ndarray,
        name: str,
        value: ca.SX,
        lower: Any,
        upper: Any,
        labels: Sequence[str],
        numbers: Sequence[Numbers] = (),
    ) -> Block:
        """Bounds on one value, somewhere."""
        size = value.shape[0]
        rows = list(zip(_entries(name, labels, size), ca.vertsplit(value), strict=True))
        low, high = (np.broadcast_to(np.asarray(x, float), size) for x in (lower, upper))
        return self._made(z, numbers, Costs(), rows, [low], [high], index[None, :], (place,))

    def _made(
        self,
        z: ca.SX,
        numbers: Sequence[Numbers],
        costs: Costs,
        rows: list[Row],
        lower: list[np.ndarray],
        upper: list[np.ndarray],
        index: np.ndarray,
        places: tuple[str, ...],
        lifts: Sequence[Lift] = (),
    ) -> Block:
        count = len(places)
        none = ca.SX(0, 1)
        said = [
            ca.vertcat(none, *costs.named.values()),
            ca.vertcat(none, *(value for _, value in rows)),
            ca.vertcat(none, *(expression for _, expression in lifts)),
            ca.vertcat(none, *costs.squares),
            costs.plain,
        ]
        # An unknown that two parts of z stand for becomes one symbol.
        _, first, inverse = np.unique(index[0], return_index=True, return_inverse=True)
        if len(first) < index.shape[1]:
            kept = first[inverse]
            said = ca.substitute(said, [z], [z[kept.tolist()]])
            order = np.sort(first)
            z, index = z[order.tolist()], index[:, order]
        inner = ca.vertcat(none, *(symbol for symbol, _ in lifts))
        # What nothing depends on is left out: blocks that say the same are then the same.
        needed = _depended([*said[:2], *said[3:]], inner)
        inner, said[2] = inner[needed], said[2][needed]
        used = _depended(said, z) or [0]
        z, index = z[used], index[:, used]
        bounds = [
            np.tile(np.concatenate([np.zeros(0), *side]), (count, 1)) for side in (lower, upper)
        ]
        cost, row, outer, squares, plain = (ca.densify(part) for part in said)
        return Block(
            self.phase.name,
            z,
            ca.vertcat(none, *(symbol for symbol, _ in numbers)),
            cost,
            row,
            tuple(costs.named),
            tuple(name for name, _ in rows),
            index,
            np.concatenate([np.zeros((count, 0)), *(known for _, known in numbers)], axis=1),
            bounds[0],
            bounds[1],
            places,
            inner,
            outer,
            squares,
            plain,
        )

    def _target(self, term: Term, fractions: np.ndarray) -> np.ndarray:
        assert term.target is not None
        values = series(term.target, fractions)
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            raise HomodynError(
                f"phase {self.phase.name!r}, term {term.name!r}: the target is "
                f"{values[tuple(bad[0])]} in column {bad[0][1]} at {fractions[bad[0][0]]:.0%} of "
                "the phase; targets are finite everywhere"
            )
        return values

    def _value(self, term: Term, instant: Instant, target: Array | None) -> Array:
        value = ca.SX(term.value(instant))
        if target is not None and target.shape[0] != value.shape[0]:
            raise HomodynError(
                f"phase {self.phase.name!r}, term {term.name!r}: the target has "
                f"{target.shape[0]} columns for {value.shape[0]} values"
            )
        return value

    def labelled(self, rows: Sequence[Row]) -> tuple[list[Row], list[np.ndarray], list[np.ndarray]]:
        """Equations entry by entry, each with the name of its coordinate or contact row."""
        split: list[Row] = []
        for name, value in rows:
            column = ca.SX(value)
            labels = self._entry_labels(name, column.shape[0])
            split += zip(_entries(name, labels, column.shape[0]), ca.vertsplit(column), strict=True)
        return split, [np.zeros(len(split))], [np.zeros(len(split))]

    def _entry_labels(self, name: str, size: int) -> tuple[str, ...]:
        if name == "contact":
            names = row_names(self.phase.contacts)
            return tuple(names[k] for k in self.resting)
        quantity = "q" if " q" in f" {name}" and size == self.model.nq else "v"
        labels = entry_names(self.model, self.phase.contacts, quantity)
        return labels if len(labels) == size else ()

    def _add_conditions(
        self,
        conditions: Sequence[Condition],
        instant: Instant,
        rows: list[Row],
        lower: list[np.ndarray],
        upper: list[np.ndarray],
    ) -> None:
        for condition in conditions:
            value = ca.SX(condition.value(instant))
            size = value.shape[0]
            low, high = (np.asarray(x, dtype=float) for x in (condition.lower, condition.upper))
            if not (np.broadcast_to(low, size) <= np.broadcast_to(high, size)).all():
                raise HomodynError(
                    f"phase {self.phase.name!r}: condition {condition.name!r} leaves nothing "
                    f"between {low} and {high}"
                )
            names = _entries(condition.name, condition.labels, size)
            rows += zip(names, ca.vertsplit(value), strict=True)
            lower.append(np.broadcast_to(low, size))
            upper.append(np.broadcast_to(high, size))

    def place(self, node: float) -> str:
        """What to call a node, or the middle of an interval."""
        at = self.phase.duration_guess * node / self.phase.intervals
        return f"phase {self.phase.name!r}, node {node:.4g} of {self.phase.intervals} ({at:.3f} s)"


def _mixed(parts: Sequence[ca.SX], weights: np.ndarray) -> ca.SX:
    """A weighted sum; one part alone is itself."""
    if len(parts) == 1:
        return parts[0]
    return sum((w * part for w, part in zip(weights, parts, strict=True)), ca.SX(0))


def _depended(values: Sequence[ca.SX], symbols: ca.SX) -> list[int]:
    """Which of some symbols expressions depend on."""
    pattern = ca.jacobian_sparsity(ca.vertcat(*values), symbols)
    return sorted(set(pattern.get_col()))


def _entries(name: str, labels: Sequence[str], size: int) -> list[str]:
    """A name for each entry of a value."""
    if len(labels) == size:
        return [f"{name}: {label}" for label in labels]
    return [name] if size == 1 else [f"{name} [{k}]" for k in range(size)]
