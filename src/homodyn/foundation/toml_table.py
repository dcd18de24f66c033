"""Typed reading of TOML tables: every field is checked, and all errors are reported at once.

A reader takes the fields of a table one by one. A field that is missing or invalid is recorded as
an error with its line, and a placeholder is returned, so that reading continues. `TomlTable.build`
creates the object of a table only if all its fields are valid; `TomlTable.raise_errors` ends the
reading of a document.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from homodyn.errors import FormatError, ModelError
from homodyn.foundation.text import count_of, unknown_name
from homodyn.foundation.toml import Place, TomlDocument

T = TypeVar("T")


class TomlTable:
    """A table of a TOML document.

    Args:
        document: The document.
        content: The table; the top level of the document when left out.
        place: Keys and indices that lead to the table.
        label: What messages call the table, such as ``"support 2"``.
        errors: Errors of all tables of the document: line, field and message.
    """

    def __init__(
        self,
        document: TomlDocument,
        content: Any = None,
        place: Place = (),
        label: str = "",
        errors: list[tuple[int, str, str]] | None = None,
    ) -> None:
        self.document, self.place, self.label = document, place, label
        self.errors: list[tuple[int, str, str]] = [] if errors is None else errors
        self.valid = True
        self._names: list[str] = []
        content = document.content if content is None and not place else content
        if not isinstance(content, dict):
            self.report(f"a table is expected, got {content!r}")
            content = {}
        self.content: dict[str, Any] = dict(content)

    def report(self, message: str, key: str = "") -> None:
        """Record an error of the table or of one of its fields."""
        self.valid = False
        where = ".".join(part for part in (self.label, key) if part)
        place = (*self.place, key) if key else self.place
        error = (self.document.line(*place), where, message)
        if error not in self.errors:
            self.errors.append(error)

    def raise_errors(self) -> None:
        """Raise a `FormatError` with all errors of the document, if there are any."""
        if not self.errors:
            return
        places = [
            (", ".join(part for part in (f"line {line}", where) if part), message)
            for line, where, message in sorted(self.errors)
        ]
        if len(places) == 1:
            ((place, message),) = places
            raise FormatError(message, self.document.path, place)
        listing = "".join(f"\n  {place}: {message}" for place, message in places)
        raise FormatError(f"{count_of(len(places), 'error')}{listing}", self.document.path)

    def has(self, key: str) -> bool:
        """Whether the table has a field that has not been read yet."""
        return key in self.content

    def take(self, key: str, default: Any = None, *, required: bool = False) -> Any:
        """The raw value of a field; it counts as read."""
        self._names.append(key)
        if required and key not in self.content:
            self.report("this field is missing", key)
        return self.content.pop(key, default)

    def number(
        self,
        key: str,
        default: float | None = None,
        *,
        above: float | None = None,
        minimum: float | None = None,
    ) -> float:
        """A number; required without a default."""
        value = self._required_value(key, default)
        if value is None:
            return 0.0
        if isinstance(value, bool) or not isinstance(value, int | float) or np.isnan(value):
            self.report(f"a number is expected, got {value!r}", key)
            return 0.0
        if above is not None and not value > above:
            self.report(f"a number above {above:g} is expected, got {value!r}", key)
        if minimum is not None and not value >= minimum:
            self.report(f"a number of at least {minimum:g} is expected, got {value!r}", key)
        return float(value)

    def optional_number(self, key: str, *, above: float | None = None) -> float | None:
        """A number, or None where the field is left out."""
        if not self.has(key):
            self.take(key)
            return None
        return self.number(key, above=above)

    def integer(self, key: str, default: int | None = None, *, minimum: int = 0) -> int:
        """A whole number; required without a default."""
        value = self._required_value(key, default)
        if value is None:
            return minimum
        if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
            self.report(f"a whole number from {minimum} up is expected, got {value!r}", key)
            return minimum
        return value

    def array(
        self, key: str, default: Any = None, *, shape: tuple[int, ...] = (3,), what: str = ""
    ) -> np.ndarray:
        """Finite numbers of a shape, -1 for any length; required without a default."""
        value = self._required_value(key, default)
        placeholder = np.zeros([max(length, 0) for length in shape])
        if value is None:
            return placeholder
        try:
            found = np.array(value, dtype=float)
        except (TypeError, ValueError):
            found = np.zeros(0)
        fits = found.ndim == len(shape) and all(
            n < 0 or n == m for n, m in zip(shape, found.shape, strict=True)
        )
        if not fits or not np.isfinite(found).all():
            what = what or _shape_words(shape)
            self.report(f"{what} finite numbers are expected, got {value!r}", key)
            return placeholder
        return found

    def text(self, key: str, default: str | None = None) -> str:
        """A text; required without a default."""
        value = self._required_value(key, default)
        if value is not None and not isinstance(value, str):
            self.report(f"a text is expected, got {value!r}", key)
            return ""
        return value or ""

    def texts(self, key: str, default: Sequence[str] | None = None) -> tuple[str, ...]:
        """A list of texts; required and not empty without a default."""
        value = self._required_value(key, None if default is None else list(default))
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            self.report(f"a list of texts is expected, got {value!r}", key)
            return ()
        if default is None and not value:
            self.report("at least one name is expected, got an empty list", key)
        return tuple(value)

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self.take(key, default)
        if not isinstance(value, bool):
            self.report(f"true or false is expected, got {value!r}", key)
            return default
        return value

    def choice(self, key: str, options: Sequence[str], default: str | None = None) -> str:
        """One of several words; required without a default."""
        if default is None and not self.has(key):
            self._names.append(key)
            self.report(f"this field is missing; accepted: {', '.join(options)}", key)
            return ""
        value = self.take(key, default)
        if value not in options:
            self.report(unknown_name(key, value, options), key)
        return str(value)

    def table(self, key: str) -> TomlTable | None:
        """A table inside this one; None where it is left out."""
        value = self.take(key)
        if value is None:
            return None
        label = ".".join(part for part in (self.label, key) if part)
        return TomlTable(self.document, value, (*self.place, key), label, self.errors)

    def tables(self, key: str) -> list[TomlTable]:
        """The tables of an array of tables; empty where it is left out."""
        value = self.take(key, [])
        if not isinstance(value, list):
            self.report(f"write it as [[{key}]]", key)
            return []
        return [
            TomlTable(
                self.document, entry, (*self.place, key, number), f"{key} {number + 1}", self.errors
            )
            for number, entry in enumerate(value)
        ]

    def report_unknown_fields(self) -> None:
        """Record an error for every field that has not been read."""
        for key in self.content:
            self.report(unknown_name("field", key, self._names), key)
        self.content = {}

    def build(self, create: Callable[[], T]) -> T | None:
        """The object of this table, or None if a field is unknown or invalid.

        Args:
            create: Creates the object; a `ModelError` it raises is recorded with the table's line.

        Returns:
            The object.
        """
        self.report_unknown_fields()
        if not self.valid:
            return None
        try:
            return create()
        except ModelError as error:
            self.report(str(error))
            return None

    def _required_value(self, key: str, default: Any) -> Any:
        return self.take(key, default, required=default is None)


def _shape_words(shape: tuple[int, ...]) -> str:
    if len(shape) == 1:
        return str(shape[0]) if shape[0] >= 0 else "a list of"
    rows = "rows" if shape[0] < 0 else f"{shape[0]} rows"
    return f"{rows} of {shape[1]}"
