"""The list of ready bodies: who they are, where their numbers come from, what was assumed.

A body is a function with defaults for all of its arguments that returns a `Model`. Registering it
makes it part of `describe` and of the test that every body must pass::

    @entry(
        source="Felis 2015, tables 4.3 to 4.5",
        limits="AAOS 1965, joint motion",
        assumed=("capsule radii from mass and length at 1000 kg/m3",),
    )
    def heiman(height=1.79, mass=76.0) -> Model:
        ...

``source`` says where lengths, masses and inertias come from, ``limits`` the joint ranges, and
``assumed`` has one sentence for everything that no source gives. The function itself comes back
unchanged, so it is called as before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from textwrap import fill
from typing import Any, TypeVar

from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import Model

Builder = TypeVar("Builder", bound=Callable[..., Model])


@dataclass(frozen=True)
class CatalogEntry:
    """One body of the catalog."""

    name: str
    build: Callable[..., Model]
    source: str
    limits: str
    assumed: tuple[str, ...]

    @property
    def summary(self) -> str:
        """First line of the function's docstring."""
        return (self.build.__doc__ or "").strip().partition("\n")[0]


_ENTRIES: dict[str, CatalogEntry] = {}


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
            raise ModelError(
                f"the catalog has a body {name!r} already; give the function another name"
            )
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
    if name not in _ENTRIES:
        raise ModelError(f"the catalog has {unknown_name('body', name, sorted(_ENTRIES))}")
    return _ENTRIES[name].build(**arguments)


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
        rows.append((item.name, *sizes, item.summary))
    widths = [max(len(row[k]) for row in rows) for k in range(5)]
    lines = []
    for label, *sizes_, what in rows:
        cells = [size.rjust(width) for size, width in zip(sizes_, widths[1:4], strict=True)]
        lines.append("  ".join([label.ljust(widths[0]), *cells, what]))
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n\n".join(["\n".join(lines), *(_details(item.name) for item in entries())])


def _details(name: str) -> str:
    if name not in _ENTRIES:
        raise ModelError(f"the catalog has {unknown_name('body', name, sorted(_ENTRIES))}")
    item, model = _ENTRIES[name], _default(name)
    told = [
        f"{len(model.bodies)} bodies, {model.nv} degrees of freedom, {model.mass:.1f} kg, "
        f"{len(model.markers)} markers, {len(model.contacts)} contact shapes",
        f"source: {item.source}",
        f"joint ranges: {item.limits}",
        *(f"assumed: {sentence}" for sentence in item.assumed),
    ]
    wrapped = [
        fill(line, 100, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
        for line in told
    ]
    return "\n".join([f"{name}: {item.summary}", *wrapped])
