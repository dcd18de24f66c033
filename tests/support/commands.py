"""The commands of a Typer application, found by walking over it."""

from typing import Any


def all_commands(command: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The words of every command, groups and the application itself included."""
    children = getattr(command, "commands", {})
    return [path, *(words for n, c in children.items() for words in all_commands(c, (*path, n)))]


def leaf_commands(command: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """The commands that do something, by their words."""
    children = getattr(command, "commands", None)
    if children is None:
        return {path: command}
    found: dict[tuple[str, ...], Any] = {}
    for name, child in children.items():
        found.update(leaf_commands(child, (*path, name)))
    return found
