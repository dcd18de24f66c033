"""Undo and redo: the past and future states of a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

State = TypeVar("State")

MAX_UNDO_STEPS = 200
"""Changes that can be undone."""


@dataclass(frozen=True)
class History(Generic[State]):
    """The present state, the states before it and those that were undone, with labels."""

    present: State
    past: tuple[tuple[str, State], ...] = ()
    """(label of the next change, state before it), the oldest first."""
    future: tuple[tuple[str, State], ...] = ()
    """(label of the change, state after it), the nearest first."""

    def push(self, label: str, state: State, *, merge: bool = False) -> History[State]:
        """The history after a change; ``merge`` joins it with the last change of the same label."""
        if merge and self.past and self.past[-1][0] == label:
            return History(state, self.past)
        return History(state, (*self.past, (label, self.present))[-MAX_UNDO_STEPS:])

    def undo(self) -> History[State]:
        """The history one change back; the same history if there is none."""
        if not self.past:
            return self
        label, before = self.past[-1]
        return History(before, self.past[:-1], ((label, self.present), *self.future))

    def redo(self) -> History[State]:
        """The history with the last undone change applied; the same history if there is none."""
        if not self.future:
            return self
        label, after = self.future[0]
        return History(after, (*self.past, (label, self.present)), self.future[1:])

    @property
    def undo_label(self) -> str:
        """Label of the change that `undo` takes back; empty if there is none."""
        return self.past[-1][0] if self.past else ""

    @property
    def redo_label(self) -> str:
        """Label of the change that `redo` applies; empty if there is none."""
        return self.future[0][0] if self.future else ""
