"""XML reading: elements have their line number; document types and entities are refused."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

import numpy as np

from homodyn.errors import FormatError
from homodyn.foundation.text import unknown_name
from homodyn.model.formats.files import read_bytes

MAX_XML_ELEMENTS = 1_000_000
"""Number of elements above which a file is refused; a large model has ten thousand."""


ROOT_TAG_CHUNK_BYTES = 4096
"""Part of a file that is parsed at a time to find its root element."""


@dataclass(slots=True)
class Element:
    """An element of an XML file, with its place for messages."""

    tag: str
    attributes: dict[str, str]
    path: str
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""
    """Text inside an element without children."""

    def all(self, tag: str) -> list[Element]:
        """The children with a tag."""
        return [child for child in self.children if child.tag == tag]

    def find(self, tag: str) -> Element | None:
        """The first child with a tag; None if there is none."""
        for child in self.children:
            if child.tag == tag:
                return child
        return None

    def walk(self) -> Iterator[Element]:
        """This element and all below it, in the order of the file."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(element.children))

    def error(self, message: str) -> FormatError:
        """An error with the place of this element."""
        return FormatError(message, self.path, f"line {self.line}, <{self.tag}>")

    def require(self, tag: str) -> Element:
        """The first child with a tag; an error if there is none."""
        found = self.find(tag)
        if found is None:
            raise self.error(f"a <{tag}> is missing inside")
        return found

    def get(self, name: str) -> str:
        """An attribute; an error if it is missing."""
        if name not in self.attributes:
            raise self.error(unknown_name("attribute", name, self.attributes))
        return self.attributes[name]

    def number(self, name: str, default: float | None = None) -> float:
        """An attribute as one finite number; the default if it is missing."""
        if default is not None and name not in self.attributes:
            return default
        return float(self._numbers(name, self.get(name), 1)[0])

    def vector(self, name: str, default: tuple[float, ...]) -> np.ndarray:
        """An attribute as finite numbers, of the length of the default."""
        if name not in self.attributes:
            return np.array(default)
        return self._numbers(name, self.attributes[name], len(default))

    def _numbers(self, name: str, text: str, count: int) -> np.ndarray:
        try:
            values = np.array([float(word) for word in text.split()])
        except ValueError:
            values = np.array([np.nan])
        if values.shape != (count,) or not np.isfinite(values).all():
            needed = "a finite number" if count == 1 else f"{count} finite numbers"
            raise self.error(f"{name} must be {needed}, got {text!r}")
        return values


def read_xml(path: Path) -> Element:
    """The root element of an XML file."""
    return parse_xml(read_bytes(path), str(path))


def read_root_tag(path: Path) -> str:
    """The tag of the root element of an XML file; the rest of the file is not read.

    Raises:
        FormatError: The file is missing, or not XML up to there.
    """
    found: list[str] = []
    parser = expat.ParserCreate()

    def start(tag: str, _: dict[str, str]) -> None:
        found.append(tag)
        parser.StartElementHandler = None

    parser.StartElementHandler = start
    content = read_bytes(path)
    for offset in range(0, len(content), ROOT_TAG_CHUNK_BYTES):
        try:
            parser.Parse(content[offset : offset + ROOT_TAG_CHUNK_BYTES], False)
        except (expat.ExpatError, ValueError, LookupError):
            break
        if found:
            break
    return found[0] if found else parse_xml(content, str(path)).tag


def parse_xml(content: bytes, path: str) -> Element:
    """The root element of XML text; ``path`` is for the messages.

    Two common errors are tolerated: double hyphens in comments, and Latin-1 letters in files that
    declare UTF-8.
    """
    try:
        return _parse(content, path)
    except FormatError:
        repaired = _repair(content)
        if repaired == content:
            raise
        with contextlib.suppress(FormatError):
            return _parse(repaired, path)
        raise


def _repair(content: bytes) -> bytes:
    """The same lines without comments, and in UTF-8 if they declare it."""
    blank = re.sub(rb"<!--.*?-->", lambda found: b"\n" * found[0].count(b"\n"), content, flags=re.S)
    declared = re.match(rb"<\?xml[^>]*encoding=[\"']([\w-]+)", blank)
    if declared is None or declared[1].lower() == b"utf-8":
        try:
            blank.decode("utf-8")
        except UnicodeDecodeError:
            return blank.decode("latin-1").encode("utf-8")
    return blank


def _parse(content: bytes, path: str) -> Element:
    parser = expat.ParserCreate()
    parser.buffer_text = True
    document = Element("", {}, path, 0)
    open_elements = [document]
    count = 0
    # Text is collected without a Python call per piece: most pieces are white space.
    pieces: list[str] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MAX_XML_ELEMENTS:
            raise FormatError(
                f"it has more than {MAX_XML_ELEMENTS} elements, too many for a model",
                path,
                f"line {parser.CurrentLineNumber}",
            )
        element = Element(tag, attributes, path, parser.CurrentLineNumber)
        open_elements[-1].children.append(element)
        open_elements.append(element)
        pieces.clear()

    def end(_: str) -> None:
        element = open_elements.pop()
        if not element.children:
            element.text = "".join(pieces)

    def refuse(*_: object) -> None:
        raise FormatError(
            "document types and entities are not accepted; remove the <!DOCTYPE ...>",
            path,
            f"line {parser.CurrentLineNumber}",
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = pieces.append
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise FormatError(
            f"this is not complete XML: {expat.ErrorString(error.code)}",
            path,
            f"line {error.lineno}",
        ) from None
    except (ValueError, LookupError) as error:
        raise FormatError(f"this is not XML: {error}", path) from None
    return document.children[0]
