"""The registry of catalog bodies, with the sources of their numbers and their assumptions.

A body is a function that returns a `Model` and has defaults for all of its arguments. A registered
body is part of `describe` and of the tests of all bodies::

    @entry(
        source="Felis 2015, tables 4.3 to 4.5",
        limits="AAOS 1965, joint motion",
        assumed=("capsule radii from mass and length at 1000 kg/m3",),
    )
    def heiman(height=1.79, mass=76.0) -> Model:
        ...

``source`` is the source of lengths, masses and inertias, ``limits`` that of the joint ranges, and
``assumed`` has one sentence for every assumption. The decorator returns the function unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from textwrap import fill
from typing import Any, ClassVar, Self, TypeVar

from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of, unknown_name
from homodyn.model import Model

Builder = TypeVar("Builder", bound=Callable[..., Model])


@record
class CatalogEntry(Record):
    """One body of the catalog."""

    name: str
    build: Callable[..., Model]
    """Function that builds the model."""
    source: str
    """Source of lengths, masses and inertias."""
    limits: str
    """Source of the joint ranges."""
    assumed: tuple[str, ...]
    """One sentence per assumption."""

    _transient: ClassVar[tuple[str, ...]] = ("build",)

    @property
    def title(self) -> str:
        """First line of the function's docstring."""
        return (self.build.__doc__ or "").strip().partition("\n")[0]

    def headline(self) -> str:
        """Name and title."""
        return f"CatalogEntry {self.name!r}: {self.title}"

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The registered entry of the name in the data.

        Args:
            data: What `to_dict` returned.

        Returns:
            The entry of the catalog.

        Raises:
            ModelError: The catalog has no such body.
        """
        found = _find(str(data.get("name")))
        assert isinstance(found, cls)
        return found


_ENTRIES: dict[str, CatalogEntry] = {}


def _find(name: str) -> CatalogEntry:
    if name not in _ENTRIES:
        raise ModelError(f"the catalog has {unknown_name('body', name, sorted(_ENTRIES))}")
    return _ENTRIES[name]


def entry(
    *, source: str, limits: str, assumed: tuple[str, ...] = ()
) -> Callable[[Builder], Builder]:
    """Decorator that registers a function under its name as a body of the catalog.

    The function returns a `Model` and has defaults for all of its arguments. The first line of its
    docstring is the summary of the body.

    Args:
        source: Where lengths, masses and inertias come from.
        limits: Where the joint ranges come from.
        assumed: One sentence for each assumption that no source supports.

    Returns:
        A decorator that returns the function unchanged. It raises `ModelError` if the catalog
        already has a body of that name.
    """

    def register(builder: Builder) -> Builder:
        name = builder.__name__
        if name in _ENTRIES:
            raise ModelError(f"the catalog already has a body {name!r}; rename the function")
        _ENTRIES[name] = CatalogEntry(name, builder, source, limits, tuple(assumed))
        return builder

    return register


def entries() -> tuple[CatalogEntry, ...]:
    """All bodies of the catalog.

    Returns:
        One record per body, sorted by name.
    """
    return tuple(_ENTRIES[name] for name in sorted(_ENTRIES))


def build(name: str, **arguments: Any) -> Model:
    """Build a body of the catalog by name: ``build("heiman", height=1.6)``.

    Args:
        name: Name of the body.
        arguments: Arguments of the function of that name; the others have their defaults.

    Returns:
        The model.

    Raises:
        ModelError: The catalog has no such body, or the arguments describe an invalid one.
    """
    return _find(name).build(**arguments)


@cache
def _default(name: str) -> Model:
    return build(name)


def describe(name: str | None = None) -> None:
    """Print a description of one body or of the whole catalog: sizes, sources and assumptions.

    Args:
        name: Name of the body; None for all bodies.

    Raises:
        ModelError: The catalog has no such body.
    """
    print(description(name))


def description(name: str | None = None) -> str:
    """The text that `describe` prints.

    Args:
        name: Name of the body; None for all bodies.

    Returns:
        Sizes, sources and assumptions of the body; for all bodies, a table followed by the details
        of each.

    Raises:
        ModelError: The catalog has no such body.
    """
    if name is not None:
        return _details(name)
    rows = [("body", "bodies", "dof", "mass (kg)", "what")]
    for item in entries():
        model = _default(item.name)
        sizes = (str(len(model.bodies)), str(model.nv), f"{model.mass:.1f}")
        rows.append((item.name, *sizes, item.title))
    widths = [max(len(row[k]) for row in rows) for k in range(5)]
    lines = []
    for label, *numbers, what in rows:
        cells = [cell.rjust(width) for cell, width in zip(numbers, widths[1:4], strict=True)]
        lines.append("  ".join([label.ljust(widths[0]), *cells, what]))
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n\n".join(["\n".join(lines), *(_details(item.name) for item in entries())])


def _details(name: str) -> str:
    item, model = _find(name), _default(name)
    facts = [
        f"{count_of(len(model.bodies), 'body', 'bodies')}, "
        f"{count_of(model.nv, 'degree of freedom', 'degrees of freedom')}, {model.mass:.1f} kg, "
        f"{count_of(len(model.markers), 'marker')}, "
        f"{count_of(len(model.contacts), 'contact shape')}",
        f"source: {item.source}",
        f"joint ranges: {item.limits}",
        *(f"assumed: {sentence}" for sentence in item.assumed),
    ]
    wrapped = [
        fill(line, 100, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
        for line in facts
    ]
    return "\n".join([f"{name}: {item.title}", *wrapped])
