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
from homodyn.optimal.demands import Demands, Row
from homodyn.optimal.edges import boundary_block, node_blocks
from homodyn.optimal.instant import Instant
from homodyn.optimal.instant_maker import InstantMaker, Lift, Numbers
from homodyn.optimal.layout import PhaseLayout
from homodyn.optimal.phase import Phase, entry_names
from homodyn.optimal.samples import series
from homodyn.optimal.springs import Spring
from homodyn.optimal.terms import Term
from homodyn.optimal.transcription import Places, Sample, Transcription
from homodyn.spatial import Array


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
        made = [*self._along_phase(), *self._ties(), *node_blocks(self)]
        made += [boundary_block(self, "start"), boundary_block(self, "end")]
        changing = [term for term in self.phase.terms if term.when == "change"]
        if changing and len(self.places.windows) > 1:
            made.append(self._changes(changing))
        return made

    @property
    def along(self) -> list[Condition]:
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
                    known = self.target(term, places.passed + sample.part * places.part)
                    target = ca.SX.sym("target", known.shape[1])
                    data.append((target, known))
                value = self.value(term, sample.instant, target)
                costs.add(term, value, target, sample.share * maker.step)
        asked = self.labelled(own)
        for sample in (s for s in samples if s.part < 1.0):
            asked.obey(self.along, sample.instant, self.called)
        z = ca.vertcat(*(s for group in symbols.values() for s in group), *extra)
        index = np.array([[*self.seen(at), *shared] for at in places.windows], dtype=int)
        names = self.place_names
        plain, lifts = maker.numbers(places.passed, places.part), maker.lifts
        return [
            self.made(z, data, costs, Demands(), index, names, lifts),
            self.made(z, plain, Costs(), asked, index, names, lifts),
        ]

    def _ties(self) -> list[Block]:
        """What ties the places of each interval together."""
        count = self.phase.intervals
        windows = [self.transcription.window(k) for k in range(count)]
        maker, extra, shared = self.maker()
        symbols = self.symbols(windows[0])
        asked = self.labelled(self.transcription.ties(maker, symbols))
        if not asked.rows:
            return []
        z = ca.vertcat(*(s for group in symbols.values() for s in group), *extra)
        index = np.array([[*self.seen(at), *shared] for at in windows], dtype=int)
        numbers = maker.numbers(np.arange(count) / count, np.full(count, 1 / count))
        names = tuple(self.place(k + 0.5) for k in range(count))
        return [self.made(z, numbers, Costs(), asked, index, names)]

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
        return self.made(z, known, costs, Demands(), index, names, maker.lifts)

    def block(self, at: str, z: list[ca.SX], index: np.ndarray, rows: list[Row]) -> Block:
        """Equations at the boundary of a phase."""
        place = (f"{self.called}, {at}",)
        return self.made(ca.vertcat(*z), [], Costs(), self.labelled(rows), index[None, :], place)

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
        asked = Demands()
        asked.add(name, value, lower, upper, labels)
        return self.made(z, numbers, Costs(), asked, index[None, :], (place,))

    def made(
        self,
        z: ca.SX,
        numbers: Sequence[Numbers],
        costs: Costs,
        asked: Demands,
        index: np.ndarray,
        places: tuple[str, ...],
        lifts: Sequence[Lift] = (),
    ) -> Block:
        """A block out of symbols, the numbers and unknowns they stand for, costs and rows."""
        count = len(places)
        none = ca.SX(0, 1)
        said = [
            ca.vertcat(none, *costs.named.values()),
            asked.values,
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
        bounds = [np.tile(np.array(side, dtype=float), (count, 1)) for side in asked.bounds]
        cost, row, outer, squares, plain = (ca.densify(part) for part in said)
        return Block(
            self.phase.name,
            z,
            ca.vertcat(none, *(symbol for symbol, _ in numbers)),
            cost,
            row,
            tuple(costs.named),
            asked.names,
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

    def target(self, term: Term, fractions: np.ndarray) -> np.ndarray:
        """What a term is to be like at parts of the phase; refuses what is not finite."""
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

    def value(self, term: Term, instant: Instant, target: Array | None) -> Array:
        """What a term looks at, of the size of its target."""
        value = ca.SX(term.value(instant))
        if target is not None and target.shape[0] != value.shape[0]:
            raise HomodynError(
                f"phase {self.phase.name!r}, term {term.name!r}: the target has "
                f"{target.shape[0]} columns for {value.shape[0]} values"
            )
        return value

    def labelled(self, rows: Sequence[Row]) -> Demands:
        """Equations entry by entry, each with the name of its coordinate or contact row."""
        asked = Demands()
        for name, value in rows:
            column = ca.SX(value)
            asked.add(name, column, 0.0, 0.0, self._entry_labels(name, column.shape[0]))
        return asked

    @property
    def called(self) -> str:
        """The phase by name."""
        return f"phase {self.phase.name!r}"

    def _entry_labels(self, name: str, size: int) -> tuple[str, ...]:
        if name == "contact":
            names = row_names(self.phase.contacts)
            return tuple(names[k] for k in self.resting)
        quantity = "q" if " q" in f" {name}" and size == self.model.nq else "v"
        labels = entry_names(self.model, self.phase.contacts, quantity)
        return labels if len(labels) == size else ()

    def place(self, node: float) -> str:
        """What to call a node, or the middle of an interval."""
        at = self.phase.duration_guess * node / self.phase.intervals
        return f"phase {self.phase.name!r}, node {node:.4g} of {self.phase.intervals} ({at:.3f} s)"


def _depended(values: Sequence[ca.SX], symbols: ca.SX) -> list[int]:
    """Which of some symbols expressions depend on."""
    pattern = ca.jacobian_sparsity(ca.vertcat(*values), symbols)
    return sorted(set(pattern.get_col()))
