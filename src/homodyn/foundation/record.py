"""Records: frozen dataclasses that print briefly, summarize themselves and convert to plain data.

Every result and every input that users see is a record::

    @record
    class Footprint(Record):
        \"\"\"Where a foot stood.\"\"\"

        side: Side
        position: np.ndarray
        \"\"\"(3,), m, world.\"\"\"

The decorator makes it a frozen dataclass and its arrays read-only; the base class adds ``repr``
(ten lines at most), ``summary()``, ``to_dict()``, ``from_dict()`` and ``_repr_html_()``. Records of
columns over time derive from `homodyn.foundation.time_series.TimeSeries` instead.
"""

from __future__ import annotations

import dataclasses
import html
import types
import typing
from collections.abc import Callable, Mapping, Sequence, Set
from enum import Enum
from pathlib import PurePath
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform, overload

import numpy as np

from homodyn.errors import HomodynError
from homodyn.foundation.text import count_of

MAX_REPR_LINES = 10
MAX_VALUE_CHARACTERS = 72
MAX_NOTE_CHARACTERS = 160
NOTES_FIELD = "notes"
"""Field of records with sentences on decisions and doubts."""
_RECORD_KEY = "record"
"""Key of the class name in the dictionary of a record."""

R = TypeVar("R", bound="Record")
T = TypeVar("T")

_RECORDS: dict[str, type[Record]] = {}
"""Record classes by name; names are unique in the package."""


@dataclasses.dataclass(frozen=True)
class _Codec:
    """How a class that is not a record converts to plain data and back."""

    kind: type
    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


_CODECS: dict[str, _Codec] = {}


def register_codec(
    kind: type[T], encode: Callable[[T], Any], decode: Callable[[Any], T], *, name: str = ""
) -> None:
    """Let `Record.to_dict` and `Record.from_dict` convert a class that is not a record.

    Args:
        kind: The class.
        encode: Returns plain data (numbers, strings, lists, dictionaries) for an instance.
        decode: Returns an instance for such data.
        name: Key of the class in the data; its own name when left out.
    """
    _CODECS[name or kind.__name__] = _Codec(kind, encode, decode)


class Record:
    """Base of all records; see `record`."""

    _transient: ClassVar[tuple[str, ...]] = ()
    """Fields that `to_dict` leaves out, such as compiled functions; they need defaults."""

    def headline(self) -> str:
        """One line that identifies the record; subclasses add the most important facts."""
        return type(self).__name__

    def summary(self) -> str:
        """The whole record as text: the headline and one line per field.

        Returns:
            Several lines of text.
        """
        return "\n".join([self.headline(), *_field_lines(self)])

    def __repr__(self) -> str:
        """The headline and the most important fields, in ten lines at most."""
        rows = _described_fields(self)
        limit = MAX_REPR_LINES - 1
        if len(rows) <= limit:
            return "\n".join([self.headline(), *_aligned_lines(rows)])
        # Notes are warnings: they are shown even where other fields are left out.
        notes = [row for row in rows[limit - 1 :] if row[0] == NOTES_FIELD]
        shown = [*rows[: limit - 1 - len(notes)], *notes]
        more = f"  ... and {len(rows) - len(shown)} more fields: see summary()"
        return "\n".join([self.headline(), *_aligned_lines(shown), more])

    def _repr_html_(self) -> str:
        """A small table for notebooks."""
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
            for name, text in _described_fields(self)
        )
        return f"<b>{html.escape(self.headline())}</b><table>{rows}</table>"

    def to_dict(self) -> dict[str, Any]:
        """The record as plain data: numbers, strings, lists and dictionaries, ready for JSON.

        Arrays become nested lists with None for NaN (empty or non-numeric arrays keep shape and
        type in a dictionary). `from_dict` restores an equal record.

        Returns:
            A dictionary with the class name under ``"record"`` and one entry per field.

        Raises:
            HomodynError: A field holds something that plain data cannot express.
        """
        data: dict[str, Any] = {_RECORD_KEY: type(self).__name__}
        for field in dataclasses.fields(typing.cast(Any, self)):
            if field.name in self._transient:
                continue
            where = f"{type(self).__name__}.{field.name}"
            data[field.name] = _encode(getattr(self, field.name), where)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Restore a record from the data of `to_dict`.

        Args:
            data: What `to_dict` returned, or the same after a round trip through JSON.

        Returns:
            A record of this class.

        Raises:
            HomodynError: The data is of another class, or a field is unknown or missing.
        """
        name = data.get(_RECORD_KEY, cls.__name__)
        found = _RECORDS.get(str(name))
        if found is None or not issubclass(found, cls):
            raise HomodynError(f"the data is of a record {name!r}; expected {cls.__name__}")
        hints = typing.get_type_hints(found)
        fields = {field.name: field for field in dataclasses.fields(typing.cast(Any, found))}
        unknown = [key for key in data if key != _RECORD_KEY and key not in fields]
        if unknown:
            raise HomodynError(
                f"{found.__name__} has no field {', '.join(map(repr, unknown))}; "
                f"its fields are {', '.join(fields)}"
            )
        values = {
            key: _decode(value, hints[key], f"{found.__name__}.{key}")
            for key, value in data.items()
            if key != _RECORD_KEY
        }
        try:
            return found(**values)
        except TypeError as error:
            raise HomodynError(f"{found.__name__} cannot be restored: {error}") from None


@overload
def record(cls: type[R], /) -> type[R]: ...


@overload
def record(*, eq: bool = False) -> Callable[[type[R]], type[R]]: ...


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(dataclasses.field,))
def record(cls: Any = None, /, *, eq: bool = False) -> Any:
    """Make a class derived from `Record` a frozen dataclass with read-only arrays.

    Args:
        cls: The class, when used without parentheses.
        eq: Compare by value (for small records without arrays) instead of by identity.

    Returns:
        The class.

    Raises:
        TypeError: The class does not derive from `Record`.
    """

    def decorate(target: type[R]) -> type[R]:
        if not issubclass(target, Record):
            raise TypeError(f"{target.__name__} must derive from Record to be a record")
        own = target.__dict__.get("__post_init__")

        def __post_init__(self: Any) -> None:
            if own is not None:
                own(self)
            elif (inherited := getattr(super(result, self), "__post_init__", None)) is not None:
                inherited()
            _freeze_arrays(self, names)

        target.__post_init__ = __post_init__  # type: ignore[attr-defined]
        result = dataclasses.dataclass(frozen=True, eq=eq, repr=False)(target)
        names = frozenset(f.name for f in dataclasses.fields(typing.cast(Any, result)))
        _RECORDS[result.__name__] = result
        return result

    return decorate if cls is None else decorate(cls)


def _freeze_arrays(instance: Any, names: Set[str]) -> None:
    """Replace the writeable arrays among some fields of a record by read-only views of them."""
    # A model has thousands of small records: this looks at stored values alone.
    for name, value in vars(instance).items():
        if isinstance(value, np.ndarray) and value.flags.writeable and name in names:
            frozen = value.view()
            frozen.flags.writeable = False
            object.__setattr__(instance, name, frozen)


# -- how values print


def _field_lines(instance: Record) -> list[str]:
    return _aligned_lines(_described_fields(instance))


def _aligned_lines(rows: Sequence[tuple[str, str]]) -> list[str]:
    """One line per field, with its name and its text."""
    width = max((len(name) for name, _ in rows), default=0)
    return [f"  {name:<{width}}  {text}" for name, text in rows]


def _described_fields(instance: Record) -> list[tuple[str, str]]:
    """Names and short texts of the fields that are not empty."""
    rows = []
    for field in dataclasses.fields(typing.cast(Any, instance)):
        if field.name.startswith("_"):
            continue
        value = getattr(instance, field.name)
        if _is_empty(value):
            continue
        if field.name == NOTES_FIELD and isinstance(value, tuple):
            rows.append((field.name, _describe_notes(value)))
        else:
            rows.append((field.name, describe(value)))
    return rows


def _describe_notes(notes: tuple[Any, ...]) -> str:
    """The first note, and the number of further ones."""
    rest = f" (and {len(notes) - 1} more)" if len(notes) > 1 else ""
    return _shorten(str(notes[0]), MAX_NOTE_CHARACTERS) + rest


def _is_empty(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.size == 0
    return value is None or (isinstance(value, str | tuple | list | dict) and not value)


def describe(value: Any) -> str:
    """Describe a value in one short line.

    Args:
        value: Any value of a field.

    Returns:
        Shape and range of an array, the headline of a record, number and entries of a collection.
    """
    if isinstance(value, np.ndarray):
        return _describe_array(value)
    if isinstance(value, Record):
        return _shorten(value.headline())
    if isinstance(value, Enum):
        return _shorten(value.value if isinstance(value.value, str) else value.name.lower())
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, str):
        return _shorten(value)
    if isinstance(value, Mapping):
        return _shorten(f"{count_of(len(value), 'entry', 'entries')}: {', '.join(map(str, value))}")
    if isinstance(value, tuple | list):
        if all(isinstance(entry, str | int | float | Enum) for entry in value):
            return _shorten(f"{len(value)}: " + ", ".join(describe(entry) for entry in value))
        return _shorten(f"{len(value)} x {type(value[0]).__name__}")
    return _shorten(repr(value))


def _describe_array(value: np.ndarray) -> str:
    shape = " x ".join(map(str, value.shape)) or "scalar"
    if value.dtype.kind not in "fiu":
        return f"{shape} {value.dtype}"
    if value.size <= 6 and value.ndim == 1:
        return "[" + ", ".join(f"{number:.6g}" for number in value.tolist()) + "]"
    finite = value[np.isfinite(value)]
    if not finite.size:
        return f"{shape}, no finite value"
    text = f"{shape}, {finite.min():.4g} to {finite.max():.4g}"
    missing = value.size - finite.size
    return f"{text}, {missing} not finite" if missing else text


def _shorten(text: str, limit: int = MAX_VALUE_CHARACTERS) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 3] + "..."


# -- plain data


def plain_data(value: Any) -> Any:
    """Convert a value to plain data: numbers, strings, lists and dictionaries, ready for JSON.

    Args:
        value: A record, an array, an enum, a path, a collection of these, or plain data.

    Returns:
        The data; None stands for NaN, ``"inf"`` and ``"-inf"`` for infinities.

    Raises:
        HomodynError: The value contains something that plain data cannot express.
    """
    return _encode(value, "value")


def _encode(value: Any, where: str) -> Any:
    match value:
        case None | bool() | int() | str():
            return value.value if isinstance(value, Enum) else value
        case float() | np.floating():
            return _encode_float(float(value))
        case np.bool_() | np.integer():
            return value.item()
        case Enum():
            return _encode(value.value, where)
        case Record():
            return value.to_dict()
        case np.ndarray():
            return _encode_array(value, where)
        case PurePath():
            return str(value)
        case Mapping():
            return {str(key): _encode(entry, f"{where}[{key!r}]") for key, entry in value.items()}
        case tuple() | list() | frozenset() | set():
            return [_encode(entry, where) for entry in value]
    for name, codec in _CODECS.items():
        if isinstance(value, codec.kind):
            return {_RECORD_KEY: name, "content": codec.encode(value)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: _encode(getattr(value, field.name), f"{where}.{field.name}")
            for field in dataclasses.fields(value)
        }
    raise HomodynError(
        f"{where} is of type {type(value).__name__}, which plain data cannot express"
    )


def _encode_float(value: float) -> Any:
    if value == value and abs(value) != float("inf"):
        return value
    return None if value != value else ("inf" if value > 0 else "-inf")


def _encode_array(value: np.ndarray, where: str) -> Any:
    if value.dtype.kind == "f" and value.size:
        return _encode_nested(value.tolist())
    entries = [_encode(entry, where) for entry in value.ravel().tolist()]
    return {"dtype": str(value.dtype), "shape": list(value.shape), "values": entries}


def _encode_nested(value: Any) -> Any:
    return (
        [_encode_nested(entry) for entry in value]
        if isinstance(value, list)
        else _encode_float(value)
    )


def _decode(value: Any, hint: Any, where: str) -> Any:
    if isinstance(value, Mapping) and _RECORD_KEY in value:
        name = str(value[_RECORD_KEY])
        if name in _CODECS:
            return _CODECS[name].decode(value["content"])
        if name in _RECORDS:
            return _RECORDS[name].from_dict(value)
        raise HomodynError(f"{where}: unknown record class {name!r}")
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _decode_union(value, arguments, where)
    if origin is typing.Annotated:
        return _decode(value, arguments[0], where)
    if hint is np.ndarray or origin is np.ndarray:
        return _decode_array(value)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(value)
    if hint is float:
        return float("nan") if value is None else float(value)
    if origin is tuple or hint is tuple:
        hints = _entry_hints(arguments, len(value))
        return tuple(_decode(entry, each, where) for entry, each in zip(value, hints, strict=True))
    if origin in (list, Sequence) or hint is list:
        each = arguments[0] if arguments else Any
        return [_decode(entry, each, where) for entry in value]
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return {key: _decode(entry, arguments[1], where) for key, entry in value.items()}
    if dataclasses.is_dataclass(hint) and isinstance(value, Mapping):
        field_hints = typing.get_type_hints(hint)
        kind = typing.cast(Callable[..., Any], hint)
        return kind(**{k: _decode(v, field_hints[k], f"{where}.{k}") for k, v in value.items()})
    if isinstance(hint, type) and issubclass(hint, PurePath):
        return hint(value)
    return value


def _entry_hints(arguments: tuple[Any, ...], count: int) -> list[Any]:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return [arguments[0]] * count
    return list(arguments) if len(arguments) == count else [Any] * count


def _decode_union(value: Any, arguments: tuple[Any, ...], where: str) -> Any:
    if value is None and type(None) in arguments:
        return None
    for hint in arguments:
        if hint is type(None):
            continue
        if isinstance(hint, type) and not issubclass(hint, Enum) and isinstance(value, hint):
            return value
    for hint in arguments:
        if hint is not type(None):
            try:
                return _decode(value, hint, where)
            except (HomodynError, TypeError, ValueError):
                continue
    return value


def _decode_array(value: Any) -> np.ndarray:
    if isinstance(value, Mapping):
        if value["dtype"] == "object":
            flat = np.empty(len(value["values"]), dtype=object)
            flat[:] = value["values"]
        else:
            flat = np.array(value["values"], dtype=value["dtype"])
        return flat.reshape(value["shape"])
    return np.array(_with_nan(value), dtype=float)


def _with_nan(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_with_nan(entry) for entry in value]
    return float("nan") if value is None else float(value)
