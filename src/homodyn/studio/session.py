"""The session: the document with its history, and the playback clock."""

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
    """A consistent snapshot of a session."""

    document: StudioDocument
    clock: PlaybackClock
    version: int
    """Increases with each change of the document or of its saved parts."""
    undo_label: str
    redo_label: str
    pending: tuple[DocumentPart, ...]
    """Parts that are not saved."""

    @property
    def unsaved(self) -> bool:
        """Whether there is unsaved work."""
        return bool(self.pending)


class Session:
    """The open document, its history and the playback clock; all methods are thread-safe.

    A session is independent of the page: the drawing loop waits for `changed` and takes a `view`.
    """

    def __init__(self, document: StudioDocument | None = None) -> None:
        self._lock = threading.RLock()
        self._history = History(document or StudioDocument())
        self._saved = SavedParts(document_parts(self._history.present))
        self._clock = PlaybackClock(self._history.present.time)
        self._clock = self._clock.at_frame(0)
        self._version = 0
        self.changed = threading.Event()
        """Set by each change of the document or the clock; cleared by the drawing loop."""

    def view(self) -> SessionView:
        """A snapshot of the present state."""
        with self._lock:
            return SessionView(
                self._history.present,
                self._clock,
                self._version,
                self._history.undo_label,
                self._history.redo_label,
                self._saved.find_unsaved(document_parts(self._history.present)),
            )

    @property
    def document(self) -> StudioDocument:
        """The open bodies and recordings."""
        return self._history.present

    @property
    def clock(self) -> PlaybackClock:
        """The playback clock."""
        return self._clock

    def change(
        self,
        label: str,
        function: Callable[[StudioDocument], StudioDocument],
        *,
        merge: bool = False,
        in_file: bool = False,
    ) -> None:
        """Replace the document by a function of it.

        Args:
            label: Name of the change for undo.
            function: Returns the new document.
            merge: Undo consecutive changes with the same label together, such as those of one drag
                of a slider.
            in_file: The new parts are already in files.
        """
        with self._lock:
            present = self._history.present
            changed = function(present)
            if in_file:
                known = {id(part.content) for part in document_parts(present)}
                self._saved.add(
                    part for part in document_parts(changed) if id(part.content) not in known
                )
            if changed is present:
                return
            self._history = self._history.push(label, changed, merge=merge)
            self._update()

    def undo(self) -> None:
        """Undo the last change."""
        self._step(self._history.undo)

    def redo(self) -> None:
        """Redo the last undone change."""
        self._step(self._history.redo)

    def mark_saved(self, saved: Iterable[DocumentPart] | None = None) -> None:
        """Mark parts as saved; all parts if omitted."""
        with self._lock:
            self._saved.add(document_parts(self._history.present) if saved is None else saved)
            self._version += 1
            self.changed.set()

    def update_clock(self, function: Callable[[PlaybackClock], PlaybackClock]) -> None:
        """Replace the clock by a function of it; the clock has no undo."""
        with self._lock:
            clock = function(self._clock)
            if clock is not self._clock:
                self._clock = clock
                self.changed.set()

    def _step(self, function: Callable[[], History[StudioDocument]]) -> None:
        with self._lock:
            history = function()
            if history is not self._history:
                self._history = history
                self._update()

    def _update(self) -> None:
        """Adapt the clock to the open motions, and signal a change."""
        self._version += 1
        before = self._clock
        self._clock = before.with_time(self._history.present.time)
        if before.frames == 1 and self._clock.frames > 1:
            self._clock = self._clock.at_frame(0)
        self.changed.set()
