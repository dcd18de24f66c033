"""Unsaved parts of a document: created in the studio and not in any file yet.

Records are immutable, so a part is identified by its object: undoing an edit restores the saved
object, which counts as saved again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from homodyn.studio.document import Actor, StudioDocument


@dataclass(frozen=True, eq=False)
class DocumentPart:
    """A part of a document that a file can contain: its kind, owner and record."""

    kind: str
    owner: str
    content: object

    @property
    def sentence(self) -> str:
        """Description for messages."""
        return f"{self.kind} of {self.owner}" if self.kind != "recording" else f"{self.owner}"


def document_parts(document: StudioDocument) -> tuple[DocumentPart, ...]:
    """All parts of a document that can be saved."""
    found = [part for actor in document.actors for part in parts_of_actor(actor)]
    return (*found, *(DocumentPart("recording", trial.name, trial) for trial in document.trials))


def parts_of_actor(actor: Actor) -> tuple[DocumentPart, ...]:
    """The parts of one body; its pose counts only while it is shown."""
    parts = {
        "model": actor.model,
        "pose": None if actor.moving else actor.q,
        "motion": actor.motion,
        "forces": actor.loads,
        "weights": actor.weights or None,
    }
    return tuple(
        DocumentPart(kind, actor.name, part) for kind, part in parts.items() if part is not None
    )


class SavedParts:
    """Parts that are in files, by identity; references are kept so that ids stay unique."""

    def __init__(self, saved: Iterable[DocumentPart] = ()) -> None:
        self._contents: dict[int, object] = {}
        self.add(saved)

    def add(self, saved: Iterable[DocumentPart]) -> None:
        """Mark parts as saved."""
        self._contents.update({id(part.content): part.content for part in saved})

    def find_unsaved(self, parts: Iterable[DocumentPart]) -> tuple[DocumentPart, ...]:
        """The given parts that are not in a file."""
        return tuple(part for part in parts if id(part.content) not in self._contents)
