"""The graph of a network as Graphviz text and as an SVG figure."""

from __future__ import annotations

from html import escape
from math import cos, hypot, pi, sin
from typing import TYPE_CHECKING

from homodyn.network.tree import Edge, Node

if TYPE_CHECKING:
    from homodyn.network.network import Network

NODE_RADIUS_PX = 26.0


def _parts(network: Network) -> tuple[list[Node], list[Edge]]:
    edges = [part for part in network.walk() if isinstance(part, Edge)]
    ends = {id(end) for edge in edges for end in (edge.input, edge.output)}
    # Nodes with functions only are libraries and are left out.
    nodes = [
        part
        for part in network.walk()
        if isinstance(part, Node) and part is not network
        if part.variables or not part.functions or id(part) in ends
    ]
    if network.variables or any(network in (edge.input, edge.output) for edge in edges):
        nodes.insert(0, network)
    return nodes, edges


def _title(node: Node) -> str:
    return node.path or "network"


def dot_text(network: Network) -> str:
    """The graph as Graphviz text; nodes list their variables.

    Args:
        network: The network.

    Returns:
        The text.
    """
    nodes, edges = _parts(network)
    lines = ["digraph network {", "    node [shape=box, style=rounded, fontname=Helvetica];"]
    for node in nodes:
        label = "\\n".join([_title(node), *node.variables])
        lines.append(f'    "{_title(node)}" [label="{label}"];')
    lines += [f'    "{_title(edge.input)}" -> "{_title(edge.output)}";' for edge in edges]
    return "\n".join([*lines, "}", ""])


def svg_text(network: Network) -> str:
    """The graph as an SVG figure: nodes on a circle, curved arrows for edges.

    Args:
        network: The network.

    Returns:
        The text of the SVG file.
    """
    nodes, edges = _parts(network)
    count = max(1, len(nodes))
    ring = 0.0 if count == 1 else max(90.0, count * NODE_RADIUS_PX * 3 / (2 * pi))
    middle = ring + 2.5 * NODE_RADIUS_PX
    place = {
        node: (
            middle + ring * cos(2 * pi * k / count - pi / 2),
            middle + ring * sin(2 * pi * k / count - pi / 2),
        )
        for k, node in enumerate(nodes)
    }
    extent = 2 * middle
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {extent:.0f} {extent:.0f}" '
        f'width="{extent:.0f}" height="{extent:.0f}" font-family="Helvetica, sans-serif">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#456"/></marker></defs>',
    ]
    for edge in edges:
        lines.append(_arrow(place[edge.input], place[edge.output], edge.path))
    for node, (x, y) in place.items():
        label = escape(", ".join(node.variables))
        name = _title(node)
        font = min(12.0, 2 * NODE_RADIUS_PX / max(3, len(name)) * 1.6)
        lines.append(
            f'<g><title>{escape(name)}: {label}</title><circle cx="{x:.1f}" cy="{y:.1f}" '
            f'r="{NODE_RADIUS_PX}" fill="#eef3f8" stroke="#456"/><text x="{x:.1f}" y="{y + 4:.1f}" '
            f'text-anchor="middle" font-size="{font:.1f}">{escape(name)}</text></g>'
        )
    return "\n".join([*lines, "</svg>", ""])


def _arrow(begin: tuple[float, float], end: tuple[float, float], name: str) -> str:
    (x0, y0), (x1, y1) = begin, end
    length = hypot(x1 - x0, y1 - y0)
    style = 'fill="none" stroke="#456" stroke-width="1.2" marker-end="url(#tip)"'
    title = f"<title>{escape(name)}</title>"
    if length == 0:
        return (
            f'<path d="M{x0 - 10:.1f} {y0 - NODE_RADIUS_PX + 2:.1f} c-14 -34 34 -34 20 0" {style}>'
            f"{title}</path>"
        )
    ux, uy = (x1 - x0) / length, (y1 - y0) / length
    bend = 0.08 * length
    mx, my = (x0 + x1) / 2 - uy * bend, (y0 + y1) / 2 + ux * bend
    ax, ay = x0 + ux * NODE_RADIUS_PX, y0 + uy * NODE_RADIUS_PX
    bx, by = x1 - ux * NODE_RADIUS_PX, y1 - uy * NODE_RADIUS_PX
    return (
        f'<path d="M{ax:.1f} {ay:.1f} Q{mx:.1f} {my:.1f} {bx:.1f} {by:.1f}" {style}>{title}</path>'
    )
