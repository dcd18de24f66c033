"""The session: the document with its history, and the clock. Pages look at it, panels change it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from homodyn.studio.document import StudioDocument
from homodyn.studio.history import History
from homodyn.studio.playback_clock import PlaybackClock
from homodyn.studio.unsaved import DocumentPart, SavedParts, document_parts


@dataclass(frozen=True, eq=False)
class SessionView:
    """One consistent look at a session."""

    document: StudioDocument
    clock: PlaybackClock
    version: int
    """Rises with each change of the document, and of what is saved of it."""
    undo_label: str
    redo_label: str
    pending: tuple[DocumentPart, ...]
    """What was made here and is in no file yet."""

    @property
    def unsaved(self) -> bool:
        """Whether something would be lost."""
        return bool(self.pending)


class Session:
    """What is open and what is shown of it. All of its methods may be called from any thread.

    Nothing here knows of a page: whoever draws waits for `changed` and asks for a `view`.
    """

    def __init__(self, document: StudioDocument | None = None) -> None:
        self._lock = threading.RLock()
        self._history = History(document or StudioDocument())
        self._kept = SavedParts(document_parts(self._history.present))
        self._clock = PlaybackClock(self._history.present.time)
        self._clock = self._clock.at_frame(0)
        self._version = 0
        self.changed = threading.Event()
        """Set by each change of the document or the clock; whoever draws clears it."""

    def view(self) -> SessionView:
        """The present state, all parts of the same instant."""
        with self._lock:
            return SessionView(
                self._history.present,
                self._clock,
                self._version,
                self._history.undo_label,
                self._history.redo_label,
                self._kept.missing_from(document_parts(self._history.present)),
            )

    @property
    def document(self) -> StudioDocument:
        """What is open."""
        return self._history.present

    @property
    def clock(self) -> PlaybackClock:
        """What is shown of it."""
        return self._clock

    def change(
        self,
        label: str,
        function: Callable[[StudioDocument], StudioDocument],
        *,
        merge: bool = False,
        in_file: bool = False,
    ) -> None:
        """Replace the document by a function of it; ``label`` is what undo will call it.

        With ``merge``, changes of one name after each other are undone together, as the many that
        one drag of a slider makes. With ``in_file``, what the change brings is in files already.
        """
        with self._lock:
            made = function(self._history.present)
            if in_file:
                known = {id(piece.thing) for piece in document_parts(self._history.present)}
                self._kept.add(
                    piece for piece in document_parts(made) if id(piece.thing) not in known
                )
            if made is self._history.present:
                return
            self._history = self._history.push(label, made, merge=merge)
            self._follow()

    def undo(self) -> None:
        """Take the last change back."""
        self._step(self._history.undo)

    def redo(self) -> None:
        """Do again what was undone."""
        self._step(self._history.redo)

    def mark_saved(self, saved: Iterable[DocumentPart] | None = None) -> None:
        """Some pieces, or all that are open, are in files now."""
        with self._lock:
            self._kept.add(document_parts(self._history.present) if saved is None else saved)
            self._version += 1
            self.changed.set()

    def update_clock(self, function: Callable[[PlaybackClock], PlaybackClock]) -> None:
        """Replace the clock by a function of it; this is not a change to undo."""
        with self._lock:
            clock = function(self._clock)
            if clock is not self._clock:
                self._clock = clock
                self.changed.set()

    def _step(self, turn: Callable[[], History[StudioDocument]]) -> None:
        with self._lock:
            history = turn()
            if history is not self._history:
                self._history = history
                self._follow()

    def _follow(self) -> None:
        """Bring the clock to the frames that are now open, and tell that something changed."""
        self._version += 1
        before = self._clock
        self._clock = before.with_time(self._history.present.time)
        if before.frames == 1 and self._clock.frames > 1:
            self._clock = self._clock.at_frame(0)
        self.changed.set()
