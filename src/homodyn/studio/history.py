"""Going back and forth through the states of a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

State = TypeVar("State")

MAX_UNDO_STEPS = 200
"""Steps that are kept."""


@dataclass(frozen=True)
class History(Generic[State]):
    """The present state, those before it and those that were undone, each named by its change."""

    present: State
    past: tuple[tuple[str, State], ...] = ()
    """(what was done next, state before it), the oldest first."""
    future: tuple[tuple[str, State], ...] = ()
    """(what leads there, state), the nearest first."""

    def push(self, label: str, state: State, *, merge: bool = False) -> History[State]:
        """After a change; with ``merge`` it joins the last one if that has the same name."""
        if merge and self.past and self.past[-1][0] == label:
            return History(state, self.past)
        return History(state, (*self.past, (label, self.present))[-MAX_UNDO_STEPS:])

    def undo(self) -> History[State]:
        """A step back, or the same where there is none."""
        if not self.past:
            return self
        label, before = self.past[-1]
        return History(before, self.past[:-1], ((label, self.present), *self.future))

    def redo(self) -> History[State]:
        """A step forth again, or the same where nothing was undone."""
        if not self.future:
            return self
        label, after = self.future[0]
        return History(after, (*self.past, (label, self.present)), self.future[1:])

    @property
    def undo_label(self) -> str:
        """What a step back would take away; nothing where there is none."""
        return self.past[-1][0] if self.past else ""

    @property
    def redo_label(self) -> str:
        """What a step forth would do again."""
        return self.future[0][0] if self.future else ""
