"""Paths over wrap objects: which segment wraps over which surface.

Wrap objects are applied one after the other, in the order of the file. Each considers the segments
between the active points in its range, including the tangent points on the other objects. The first
segment that penetrates it wraps; else, of those that may wrap, the one that becomes longer by the
least. For a cylinder without a side, the first segment that crosses it, as if it had no ends.
With several objects this is repeated, which converges to the path that is tangent to all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca

from homodyn.model.muscles import Ligament, Muscle, PathWrap, WrapObject
from homodyn.muscle.geometry.path_lines import PathElement, PathLines, SurfaceNodes
from homodyn.muscle.geometry.path_nodes import PathFrames, PathNode, SegmentEnd
from homodyn.muscle.geometry.selects import (
    both,
    either,
    is_constant,
    is_false,
    negate,
    norm,
    select,
)
from homodyn.muscle.geometry.surface_contact import MANDATORY_CONTACT, NO_CONTACT, SurfaceContact
from homodyn.muscle.geometry.surfaces import (
    SegmentWrap,
    crosses_cylinder,
    surface_wrap,
    takes_first_crossing,
)
from homodyn.spatial import Array

WRAP_SWEEPS = 3
"""Rounds over the wrap objects of a path that has several."""
NO_POINT = ca.SX.zeros(3)
NOWHERE = SurfaceContact(NO_CONTACT, NO_POINT, NO_POINT, 0.0)


@dataclass(frozen=True)
class _Turn:
    """The part of a path on one wrap object."""

    on: tuple[Array, ...]
    """For each gap between two points whether the path wraps there."""
    start: Array = NO_POINT
    """World position of the first tangent point, (3,), m."""
    end: Array = NO_POINT
    """World position of the second tangent point, (3,), m."""
    length: Array = 0.0


@dataclass(frozen=True)
class _Turns:
    """The parts of a path on its wrap objects, and their order where a gap has several."""

    turns: tuple[_Turn, ...]
    before: dict[tuple[int, int], Array]
    """Whether the first of two wrap objects comes before the second; keys increase."""

    def is_before(self, a: int, b: int) -> Array:
        """Whether wrap object ``a`` comes before ``b`` in a gap with both."""
        return self.before[a, b] if a < b else negate(self.before[b, a])

    def slots(self, gap: int, wraps: Sequence[int]) -> list[_Slot]:
        """A sequence in which each possible order of some wrap objects occurs in a gap.

        A wrap object has a slot at each place between those of the others; at most one is on.
        """
        sequence: list[_Slot] = []
        for wrap in wraps:
            turn = self.turns[wrap]
            if is_false(turn.on[gap]):
                continue
            longer: list[_Slot] = []
            rest = turn.on[gap]
            for place in range(len(sequence) + 1):
                on = rest
                for k, other in enumerate(sequence):
                    precedes = self.is_before(wrap, other.wrap)
                    agrees = precedes if k >= place else negate(precedes)
                    on = both(on, either(negate(other.on), agrees))
                longer.append(_Slot(wrap, on))
                rest = both(rest, negate(on))
                longer += sequence[place : place + 1]
            sequence = longer
        return sequence


@dataclass(frozen=True)
class _Slot:
    """A place in a gap where the path may be on a wrap object."""

    wrap: int
    on: Array


@dataclass(frozen=True)
class _Candidate:
    """A segment that may wrap, in the gap that starts at point ``gap``, before slot ``place``."""

    gap: int
    valid: Array
    start: SegmentEnd
    end: SegmentEnd
    earlier: tuple[_Slot, ...]
    """Slots of other wrap objects before the segment."""


_Choice = tuple[list[_Candidate], list[Array], SurfaceContact]
"""Segments that may wrap, whether each does, and the contact of the one that does."""


class WrappedPath:
    """A path of a muscle or ligament at one state.

    Args:
        frames: The tree.
        owner: The muscle or ligament.
        rule: A rule of ``TANGENT_RULES``.
    """

    def __init__(self, frames: PathFrames, owner: Muscle | Ligament, rule: str) -> None:
        self.frames, self.rule = frames, rule
        self.nodes = frames.nodes(owner.points)
        self.uses: list[PathWrap] = list(owner.wraps)
        self.wraps: list[WrapObject] = [frames.wraps[use.wrap] for use in owner.wraps]
        self.ends = [node.end or SegmentEnd(node.position) for node in self.nodes]
        self.followers = [self._follower(k) for k in range(len(self.nodes) - 1)]
        none = _Turn((False,) * (len(self.nodes) - 1))
        count = len(self.wraps)
        order = {(a, b): True for b in range(count) for a in range(b)}
        self.turns = _Turns((none,) * count, order)
        self._wrap()

    def _follower(self, k: int) -> SegmentEnd:
        """The first active point after point ``k``."""
        found = self.ends[-1]
        for other in range(len(self.nodes) - 2, k, -1):
            found = SegmentEnd.choose(self.nodes[other].active, self.ends[other], found)
        return found

    def _wrap(self) -> None:
        active = [k for k, wrap in enumerate(self.wraps) if wrap.active]
        if len(active) == 1 and len(self.wraps) == 1:
            self.turns = self._apply(self.turns, active[0])
            return
        if not active:
            return
        turns = self.turns
        for _ in range(WRAP_SWEEPS):
            for k in active:
                turns = self._apply(turns, k)
        self.turns = turns

    def _apply(self, turns: _Turns, wrap: int) -> _Turns:
        """The turns after wrap object ``wrap`` was applied to the path over the others."""
        surface, use = self.wraps[wrap], self.uses[wrap]
        function = surface_wrap(surface, use.method, self.rule, len(self.wraps) == 1)
        segments = self._candidates(turns, wrap)
        if takes_first_crossing(surface):
            segments, flags, contact = self._first_crossing(surface, function, segments)
        else:
            segments, flags, contact = self._least_lengthening(surface, function, segments)
        on: list[Array] = [False] * (len(self.nodes) - 1)
        after: dict[int, Array] = {}
        for segment, flag in zip(segments, flags, strict=True):
            on[segment.gap] = either(on[segment.gap], flag)
            for slot in segment.earlier:
                after[slot.wrap] = either(after.get(slot.wrap, False), both(flag, slot.on))
        before = dict(turns.before)
        for other in range(len(self.wraps)):
            is_after = after.get(other, False)
            if other < wrap:
                before[other, wrap] = is_after
            elif other > wrap:
                before[wrap, other] = negate(is_after)
        changed = list(turns.turns)
        changed[wrap] = _Turn(tuple(on), contact.start, contact.end, contact.length)
        return _Turns(tuple(changed), before)

    def _first_crossing(
        self, surface: WrapObject, function: SegmentWrap, segments: Sequence[_Candidate]
    ) -> _Choice:
        """Wrap the first segment that crosses a cylinder; it is selected before it is wrapped."""
        chosen, flags = [], []
        found: Array = False
        for segment in segments:
            crosses = crosses_cylinder(self.frames, surface, segment.start, segment.end)
            here = both(both(segment.valid, crosses), negate(found))
            if not is_false(here):
                found = either(found, here)
                chosen.append(segment)
                flags.append(here)
        if not chosen:
            return [], [], NOWHERE
        start, end = chosen[-1].start, chosen[-1].end
        for segment, flag in zip(chosen[:-1], flags[:-1], strict=True):
            start = SegmentEnd.choose(flag, segment.start, start)
            end = SegmentEnd.choose(flag, segment.end, end)
        contact = function(self.frames, surface, start, end)
        return chosen, [both(flag, contact.status != NO_CONTACT) for flag in flags], contact

    def _least_lengthening(
        self, surface: WrapObject, function: SegmentWrap, segments: Sequence[_Candidate]
    ) -> _Choice:
        """Wrap all segments, and take the first that must or that becomes longer by the least."""
        wrapped = []
        for segment in segments:
            contact = function(self.frames, surface, segment.start, segment.end)
            status = select(segment.valid, contact.status, NO_CONTACT)
            if not (is_constant(status) and float(status) == NO_CONTACT):
                wrapped.append((segment, replace(contact, status=status)))
        flags = _choose(wrapped)
        result = wrapped[-1][1] if wrapped else NOWHERE
        for (_, contact), flag in zip(wrapped[:-1], flags[:-1], strict=True):
            result = SurfaceContact.from_column(
                select(flag, contact.to_column(), result.to_column())
            )
        return [segment for segment, _ in wrapped], flags, result

    def _candidates(self, turns: _Turns, wrap: int) -> list[_Candidate]:
        use = self.uses[wrap]
        first = max(use.first - 1, 0)
        last = use.last - 1 if use.last > 0 else len(self.nodes) - 1
        others = [k for k in range(len(self.wraps)) if k != wrap]
        found = []
        for gap in range(first, last):
            node, slots = self.nodes[gap], turns.slots(gap, others)
            for place in range(len(slots) + 1):
                valid, start, end = node.active, self.ends[gap], self.followers[gap]
                if place:
                    before = slots[place - 1]
                    valid = both(valid, before.on)
                    start = SegmentEnd(turns.turns[before.wrap].end)
                for slot in reversed(slots[place:]):
                    touch = SegmentEnd(turns.turns[slot.wrap].start)
                    end = SegmentEnd.choose(slot.on, touch, end)
                if not is_false(valid):
                    found.append(_Candidate(gap, valid, start, end, tuple(slots[:place])))
        return found

    def elements(self) -> list[PathElement]:
        """Points and parts on surfaces in the order of the path."""
        found: list[PathElement] = []
        for k, node in enumerate(self.nodes):
            found.append(node)
            if k + 1 == len(self.nodes):
                break
            for slot in self.turns.slots(k, range(len(self.wraps))):
                turn = self.turns.turns[slot.wrap]
                body = self.frames.body_index[self.wraps[slot.wrap].body]
                start, end = (PathNode(body, x, slot.on) for x in (turn.start, turn.end))
                found.append(SurfaceNodes(start, end, turn.length))
        return found

    def lines(self) -> PathLines:
        """Length and forces of unit tension."""
        return PathLines.of(self.elements())

    def wrap_places(self) -> list[Array]:
        """For each wrap object the number of the gap that wraps over it, from 1; 0: none."""
        return [
            sum((select(on, gap + 1.0, 0.0) for gap, on in enumerate(turn.on)), 0.0)
            for turn in self.turns.turns
        ]


def _choose(candidates: Sequence[tuple[_Candidate, SurfaceContact]]) -> list[Array]:
    """Whether each candidate is the one that wraps."""
    taken: list[Array] = []
    found: Array = False
    least: Array = None
    for number, (candidate, contact) in enumerate(candidates):
        is_mandatory = contact.status == MANDATORY_CONTACT
        takes = contact.status != NO_CONTACT
        is_last = number + 1 == len(candidates)
        if number == 0 and is_last:
            return [takes]
        first, last = candidate.start.position, candidate.end.position
        longer = (
            norm(contact.start - first)
            + contact.length
            + norm(last - contact.end)
            - norm(last - first)
        )
        if least is not None:
            takes = both(takes, either(is_mandatory, longer < least))
        takes = both(takes, negate(found))
        least = longer if least is None else select(takes, longer, least)
        least = select(contact.status != NO_CONTACT, least, ca.inf) if number == 0 else least
        found = either(found, is_mandatory)
        taken = [both(one, negate(takes)) for one in taken]
        taken.append(takes)
    return taken
