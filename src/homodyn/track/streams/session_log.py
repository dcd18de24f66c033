"""The sentences of a live session: each once, with the number of its repetitions."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

MAX_SENTENCES = 200
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e-?[0-9]+)?")


class SessionLog:
    """Collects sentences; those that differ in numbers only count as repetitions.

    Args:
        on_sentence: Called with each sentence that is not a repetition.
    """

    def __init__(self, on_sentence: Callable[[str], None] | None = None) -> None:
        self._on_sentence = on_sentence
        self._counts: dict[str, int] = {}
        self._first: dict[str, str] = {}
        self._lock = threading.Lock()
        self.newest = ""
        """The newest sentence."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """All sentences in order, with the number of repetitions."""
        with self._lock:
            return tuple(
                text if self._counts[key] == 1 else f"{text} ({self._counts[key]} times)"
                for key, text in self._first.items()
            )

    def add(self, sentence: str) -> None:
        """Add a sentence.

        Args:
            sentence: The sentence.
        """
        key = _NUMBER.sub("#", sentence)
        with self._lock:
            self.newest = sentence
            self._counts[key] = self._counts.get(key, 0) + 1
            new = key not in self._first
            if new and len(self._first) < MAX_SENTENCES:
                self._first[key] = sentence
        if new and self._on_sentence is not None:
            self._on_sentence(sentence)
