"""What a search is described by: immutable records, checked field by field when they are made."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError

from homodyn.errors import SearchError


class Described(BaseModel):
    """A checked record; the fields named in ``positional`` may be given without their name."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, allow_inf_nan=False
    )
    positional: ClassVar[tuple[str, ...]] = ()

    def __init__(self, *values: Any, **named: Any) -> None:
        if len(values) > len(self.positional):
            raise SearchError(
                f"{type(self).__name__} takes {len(self.positional)} values without a name"
                f" {list(self.positional)}, not {len(values)}"
            )
        named.update(zip(self.positional, values, strict=False))
        try:
            super().__init__(**named)
        except ValidationError as error:
            faults = tuple(sentence(fault) for fault in error.errors())
            raise SearchError(f"{type(self).__name__}: " + "; ".join(faults), faults) from None

    # Records inside records are checked by the outermost, which lists the faults of all of them.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]


def sentence(fault: Any) -> str:
    """One fault that pydantic found, with the place it found it at."""
    place = ".".join(str(part) for part in fault["loc"])
    return f"{place}: {reason(fault)}" if place else reason(fault)


def reason(fault: Any) -> str:
    """One fault that pydantic found, in our words where its own would puzzle."""
    match fault["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is not known here"
        case "too_short":
            return f"needs at least {fault['ctx']['min_length']}"
        case "value_error":
            return str(fault["ctx"]["error"])
        case _:
            told = str(fault["msg"])
            given = fault["input"]
            shown = f", not {given!r}" if isinstance(given, str | int | float) else ""
            return told[0].lower() + told[1:] + shown
