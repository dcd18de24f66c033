"""XML writing: elements with attributes, escaped and indented, numbers with all digits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np


@dataclass
class XmlNode:
    """An element to write."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[XmlNode] = field(default_factory=list)
    text: str = ""
    """Content of an element without children."""


def numbers(values: Any) -> str:
    """Numbers as text that is exact to the bit."""
    return " ".join(_number(float(value)) for value in np.ravel(values))


def _number(value: float) -> str:
    return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def xml_text(root: XmlNode) -> str:
    """The text of a document with this root element."""
    return "\n".join(['<?xml version="1.0" encoding="utf-8"?>', *_lines(root, "")]) + "\n"


def _lines(node: XmlNode, indent: str) -> list[str]:
    attributes = "".join(f" {key}={quoteattr(value)}" for key, value in node.attributes.items())
    if not node.children:
        if node.text:
            return [f"{indent}<{node.tag}{attributes}>{escape(node.text)}</{node.tag}>"]
        return [f"{indent}<{node.tag}{attributes}/>"]
    inner = [line for child in node.children for line in _lines(child, indent + "  ")]
    return [f"{indent}<{node.tag}{attributes}>", *inner, f"{indent}</{node.tag}>"]
