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
from homodyn.muscle.geometry.path_nodes import PathFrames, PathNode
from homodyn.muscle.geometry.selects import both, either, is_constant, negate, norm, select
from homodyn.muscle.geometry.surface_contact import MANDATORY_CONTACT, NO_CONTACT, SurfaceContact
from homodyn.muscle.geometry.surfaces import (
    SegmentWrap,
    crosses_cylinder,
    surface_wrap,
    takes_first_crossing,
)
from homodyn.spatial import Array

SWEEPS = 3
"""Rounds over the wrap objects of a path that has several."""


@dataclass(frozen=True)
class Turn:
    """A part of the path on a wrap object, at its place between two points of the path."""

    on: Array
    wrap: Array
    """Index of the wrap object in the list of the path."""
    start: Array
    """World position of the first tangent point, (3,), m."""
    end: Array
    """World position of the second tangent point, (3,), m."""
    length: Array

    def to_column(self) -> ca.SX:
        """All values as one column of 9."""
        return ca.vertcat(ca.SX(self.on), self.wrap, self.start, self.end, self.length)

    @staticmethod
    def from_column(values: ca.SX) -> Turn:
        """The turn that `to_column` described."""
        return Turn(values[0], values[1], values[2:5], values[5:8], values[8])


NO_TURN = Turn(False, -1.0, ca.SX.zeros(3), ca.SX.zeros(3), 0.0)


@dataclass(frozen=True)
class _Candidate:
    """A segment that may wrap: after turn ``place`` - 1 of the gap that starts at point ``gap``."""

    gap: int
    place: int
    valid: Array
    start: Array
    end: Array


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
        self.followers = [self._follower(k) for k in range(len(self.nodes) - 1)]
        self.turns: list[list[Turn]] = [[] for _ in self.nodes[1:]]
        self._wrap()

    def _follower(self, k: int) -> Array:
        """Position of the first active point after point ``k``."""
        position = self.nodes[-1].position
        for node in reversed(self.nodes[k + 1 : -1]):
            position = select(node.active, node.position, position)
        return position

    def _wrap(self) -> None:
        active = [k for k, wrap in enumerate(self.wraps) if wrap.active]
        if len(active) == 1 and len(self.wraps) == 1:
            self.turns = self._applied(self.turns, active[0])
            return
        if not active:
            return
        turns = self.turns
        for _ in range(SWEEPS):
            for k in active:
                turns = self._applied(turns, k)
        self.turns = turns

    def _applied(self, turns: list[list[Turn]], wrap: int) -> list[list[Turn]]:
        """The turns after wrap object ``wrap`` was applied to the path over the others."""
        others = [_without(gap, wrap) for gap in turns]
        object_ = self.wraps[wrap]
        alone = len(self.wraps) == 1
        function = surface_wrap(object_, self.uses[wrap].method, self.rule, alone)
        candidates = []
        segments = self._candidates(others, self.uses[wrap])
        if takes_first_crossing(object_):
            return self._with_first_crossing(others, wrap, function, segments)
        for candidate in segments:
            contact = function(self.frames, object_, candidate.start, candidate.end)
            status = select(candidate.valid, contact.status, NO_CONTACT)
            if is_constant(status) and float(status) == NO_CONTACT:
                continue
            candidates.append((candidate, replace(contact, status=status)))
        chosen = _choose(candidates)
        contacts = [contact for _, contact in candidates]
        return _all_inserted(others, wrap, [c for c, _ in candidates], contacts, chosen)

    def _with_first_crossing(
        self,
        others: list[list[Turn]],
        wrap: int,
        function: SegmentWrap,
        segments: Sequence[_Candidate],
    ) -> list[list[Turn]]:
        """The turns with one on an object around which the first segment wraps that crosses it.

        The segment is selected before the wrapping is computed, once.
        """
        candidates, flags = [], []
        found: Array = False
        for segment in segments:
            crosses = crosses_cylinder(self.frames, self.wraps[wrap], segment.start, segment.end)
            here = both(both(segment.valid, crosses), negate(found))
            if is_constant(here) and not bool(float(here)):
                continue
            found = either(found, here)
            candidates.append(segment)
            flags.append(here)
        if not candidates:
            return others
        start, end = candidates[-1].start, candidates[-1].end
        for segment, flag in zip(candidates[:-1], flags[:-1], strict=True):
            start, end = select(flag, segment.start, start), select(flag, segment.end, end)
        contact = function(self.frames, self.wraps[wrap], start, end)
        flags = [both(flag, contact.status != NO_CONTACT) for flag in flags]
        return _all_inserted(others, wrap, candidates, [contact] * len(flags), flags)

    def _candidates(self, turns: list[list[Turn]], use: PathWrap) -> list[_Candidate]:
        first = max(use.first - 1, 0)
        last = use.last - 1 if use.last > 0 else len(self.nodes) - 1
        found = []
        for gap in range(first, last):
            node, ranks = self.nodes[gap], turns[gap]
            for place in range(len(ranks) + 1):
                valid = node.active
                start, end = node.position, self.followers[gap]
                if place:
                    before = ranks[place - 1]
                    valid, start = both(valid, before.on), before.end
                if place < len(ranks):
                    end = select(ranks[place].on, ranks[place].start, end)
                if not (is_constant(valid) and not bool(float(valid))):
                    found.append(_Candidate(gap, place, valid, start, end))
        return found

    def elements(self, turns: list[list[Turn]]) -> list[PathElement]:
        """Points and parts on surfaces in the order of the path."""
        found: list[PathElement] = []
        for k, node in enumerate(self.nodes):
            found.append(node)
            if k + 1 == len(self.nodes):
                break
            for turn in turns[k]:
                for index, wrap in enumerate(self.wraps):
                    on = both(turn.on, _equal(turn.wrap, index))
                    if is_constant(on) and not bool(float(on)):
                        continue
                    body = self.frames.body_index[wrap.body]
                    start, end = (
                        PathNode(body, None, point, on) for point in (turn.start, turn.end)
                    )
                    found.append(SurfaceNodes(start, end, turn.length))
        return found

    def _lines(self, turns: list[list[Turn]]) -> PathLines:
        return PathLines.of(self.elements(turns))

    def lines(self) -> PathLines:
        """Length and forces of unit tension."""
        return self._lines(self.turns)

    def wrap_places(self) -> list[Array]:
        """For each wrap object the number of the gap that wraps over it, from 1; 0: none."""
        places: list[Array] = [0.0] * len(self.wraps)
        for gap, ranks in enumerate(self.turns):
            for turn in ranks:
                for k in range(len(self.wraps)):
                    on = both(turn.on, _equal(turn.wrap, k))
                    places[k] = places[k] + select(on, gap + 1.0, 0.0)
        return places


def _all_inserted(
    others: list[list[Turn]],
    wrap: int,
    candidates: Sequence[_Candidate],
    contacts: Sequence[SurfaceContact],
    chosen: Sequence[Array],
) -> list[list[Turn]]:
    """The turns with one on object ``wrap`` at the candidate that is chosen, if any."""
    result = []
    for gap, existing in enumerate(others):
        inserted = {
            candidate.place: Turn(on, float(wrap), contact.start, contact.end, contact.length)
            for candidate, contact, on in zip(candidates, contacts, chosen, strict=True)
            if candidate.gap == gap
        }
        result.append(_inserted(existing, inserted) if inserted else existing)
    return result


def _equal(index: Array, k: int) -> Array:
    return float(index) == k if is_constant(index) else index == k


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
        longer = (
            norm(contact.start - candidate.start)
            + contact.length
            + norm(candidate.end - contact.end)
            - norm(candidate.end - candidate.start)
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


def _select_turn(condition: Array, a: Turn, b: Turn) -> Turn:
    if a is b:
        return a
    return Turn.from_column(select(condition, a.to_column(), b.to_column()))


def _without(ranks: list[Turn], wrap: int) -> list[Turn]:
    """The turns of a gap without that on a wrap object; those behind it move up."""
    result: list[Turn] = []
    gone: Array = False
    for k, turn in enumerate(ranks):
        gone = either(gone, both(turn.on, _equal(turn.wrap, wrap)))
        following = ranks[k + 1] if k + 1 < len(ranks) else NO_TURN
        result.append(_select_turn(gone, following, turn) if gone is not False else turn)
    while result and is_constant(result[-1].on) and not bool(float(result[-1].on)):
        result.pop()
    return result


def _inserted(ranks: list[Turn], new: dict[int, Turn]) -> list[Turn]:
    """The turns of a gap with one more, at the place at which it is on, if at any."""
    result: list[Turn] = []
    before: Array = False
    for k in range(len(ranks) + 1):
        here = ranks[k] if k < len(ranks) else NO_TURN
        shifted = ranks[k - 1] if k else NO_TURN
        turn = here if before is False else _select_turn(before, shifted, here)
        if k in new:
            turn = new[k] if turn is NO_TURN else _select_turn(new[k].on, new[k], turn)
            before = either(before, new[k].on)
        result.append(turn)
    return result
