"""What would be lost: the pieces of a document that were made here and are in no file yet.

Records do not change, so a piece is the same as long as it is the same object: undoing an edit
brings back what was saved before it, and counts as saved again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from homodyn.studio.document import Actor, StudioDocument


@dataclass(frozen=True, eq=False)
class DocumentPart:
    """Something that a file can hold: of what kind, whose, and the record itself."""

    kind: str
    owner: str
    thing: object

    @property
    def sentence(self) -> str:
        """What to call it on the page."""
        return f"{self.kind} of {self.owner}" if self.kind != "recording" else f"{self.owner}"


def document_parts(document: StudioDocument) -> tuple[DocumentPart, ...]:
    """Everything of a document that a person may want to keep."""
    found = [piece for actor in document.actors for piece in parts_of_actor(actor)]
    return (*found, *(DocumentPart("recording", trial.name, trial) for trial in document.trials))


def parts_of_actor(actor: Actor) -> tuple[DocumentPart, ...]:
    """The pieces of one body; its pose counts while that is what is drawn."""
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
    """The things that are in files, known by identity; they are held so that none is mistaken."""

    def __init__(self, saved: Iterable[DocumentPart] = ()) -> None:
        self._things: dict[int, object] = {}
        self.add(saved)

    def add(self, saved: Iterable[DocumentPart]) -> None:
        """These are in files now."""
        self._things.update({id(piece.thing): piece.thing for piece in saved})

    def missing_from(self, wanted: Iterable[DocumentPart]) -> tuple[DocumentPart, ...]:
        """Those of some pieces that are in no file."""
        return tuple(piece for piece in wanted if id(piece.thing) not in self._things)
