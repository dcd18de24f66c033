"""The base of everything that describes a search: immutable and validated field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError

from homodyn.errors import SearchError


class ValidatedModel(BaseModel):
    """A validated record; the fields named in ``positional`` may be given by position."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, allow_inf_nan=False
    )
    positional: ClassVar[tuple[str, ...]] = ()

    def __init__(self, *values: Any, **named: Any) -> None:
        if len(values) > len(self.positional):
            raise SearchError(
                f"{type(self).__name__} takes {len(self.positional)} values by position"
                f" {list(self.positional)}, not {len(values)}"
            )
        named.update(zip(self.positional, values, strict=False))
        try:
            super().__init__(**named)
        except ValidationError as error:
            faults = tuple(sentence(fault) for fault in error.errors())
            raise SearchError(f"{type(self).__name__}: " + "; ".join(faults), faults) from None

    # Nested records are validated by the outermost, which lists the errors of all of them.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]


def sentence(fault: Any) -> str:
    """One error that pydantic found, with its place."""
    place = ".".join(str(part) for part in fault["loc"])
    return f"{place}: {reason(fault)}" if place else reason(fault)


def reason(fault: Any) -> str:
    """One error that pydantic found, in words that suit job files."""
    match fault["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is unknown"
        case "too_short":
            return f"needs at least {fault['ctx']['min_length']}"
        case "value_error":
            return str(fault["ctx"]["error"])
        case _:
            text, given = str(fault["msg"]), fault["input"]
            if isinstance(given, Mapping) and "kind" in given:
                given = given["kind"]
            suffix = f", not {given!r}" if isinstance(given, str | int | float) else ""
            return text[0].lower() + text[1:] + suffix
