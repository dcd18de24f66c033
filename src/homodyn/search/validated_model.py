"""Base of the classes that describe a search: immutable, validated field by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Any, ClassVar, Self, Union, dataclass_transform, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from homodyn.errors import SearchError
from homodyn.foundation.record import MAX_REPR_LINES, describe


# Type checkers then accept values by position, in the order of the fields.
@dataclass_transform(field_specifiers=(Field,))
class ValidatedModel(BaseModel):
    """An immutable object whose fields are validated.

    Attributes:
        positional: Names of the fields that may be given by position.
    """

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
            sentences = tuple(sentence(detail) for detail in error.errors())
            raise SearchError(
                f"{type(self).__name__}: " + "; ".join(sentences), sentences
            ) from None

    @field_validator("*", mode="before")
    @classmethod
    def _refuse_truth_values(cls, value: Any, info: ValidationInfo) -> Any:
        """A truth value is no number, although Python counts with it."""
        if isinstance(value, bool) and info.field_name is not None:
            annotation = cls.model_fields[info.field_name].annotation
            if not _accepts_truth_value(annotation):
                raise ValueError(f"a number is expected, not {str(value).lower()}")
        return value

    # Nested objects are validated by the outermost, which lists the errors of all of them.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Fields that differ from their defaults."""
        for name, value in super().__repr_args__():
            field = type(self).model_fields.get(str(name))
            if field is None or value != field.get_default(call_default_factory=True):
                yield name, value

    def __repr__(self) -> str:
        """The class and its fields, in ten lines at most."""
        lines = [f"  {name}  {describe(value)}" for name, value in self.__repr_args__()]
        limit = MAX_REPR_LINES - 1
        if len(lines) > limit:
            rest = len(lines) - (limit - 1)
            lines = [*lines[: limit - 1], f"  ... and {rest} more fields: see to_dict()"]
        return "\n".join([type(self).__name__, *lines])

    def __str__(self) -> str:
        return repr(self)

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data: numbers, strings, lists and dictionaries, ready for JSON.

        Returns:
            Values by name of the field.
        """
        return self.model_dump(mode="json")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Restore an object from the data of `to_dict`.

        Args:
            data: Values by name of the field.

        Returns:
            An object of this class.

        Raises:
            SearchError: A field is unknown, missing or wrong.
        """
        return cls(**data)


def _accepts_truth_value(annotation: Any) -> bool:
    """Whether a field may be true or false: its type is not made of numbers only."""
    kinds = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    return not any(kind in (int, float) for kind in kinds) or bool in kinds


def sentence(error: Any) -> str:
    """A validation error of pydantic as a sentence with the name of the field."""
    place = ".".join(str(part) for part in error["loc"])
    return f"{place}: {reason(error)}" if place else reason(error)


def reason(error: Any) -> str:
    """A validation error of pydantic as a sentence without the name of the field."""
    match error["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is unknown"
        case "too_short":
            return f"needs at least {error['ctx']['min_length']}"
        case "value_error":
            return str(error["ctx"]["error"])
        case _:
            text, given = str(error["msg"]), error["input"]
            if isinstance(given, Mapping) and "kind" in given:
                given = given["kind"]
            suffix = f", not {given!r}" if isinstance(given, str | int | float) else ""
            return text[0].lower() + text[1:] + suffix
