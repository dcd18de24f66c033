"""The graph of a network: each node and edge is drawn once, at places inside the figure."""

import math
import xml.etree.ElementTree as ET

from homodyn.network import parse
from homodyn.network.graph import NODE_RADIUS_PX, dot_text, svg_text

SVG = "{http://www.w3.org/2000/svg}"
NETWORK = """
node "a" { x = 1 }
node "b" { y = 2 }
node "c" { z = 3 }
edge from "a" to "b" { y' += "input.x" }
edge from "b" to "a" { x' += "-input.y" }
node "helpers" { twice(u) = "2 * u" }
"""


def test_the_text_for_graphviz_has_every_node_and_edge():
    lines = [line.strip() for line in dot_text(parse(NETWORK)).splitlines()]
    assert '"a" [label="a\\nx"];' in lines
    assert '"c" [label="c\\nz"];' in lines
    assert '"a" -> "b";' in lines
    assert '"b" -> "a";' in lines
    # A node with functions only is a library.
    assert not any("helpers" in line for line in lines)


def test_the_figure_has_circles_that_do_not_overlap_and_arrows_between_them():
    figure = ET.fromstring(svg_text(parse(NETWORK)))
    circles = [(float(c.get("cx")), float(c.get("cy"))) for c in figure.iter(f"{SVG}circle")]
    assert len(circles) == 3
    for k, one in enumerate(circles):
        for two in circles[:k]:
            assert math.dist(one, two) > 2 * NODE_RADIUS_PX
    extent = float(figure.get("width"))
    assert all(NODE_RADIUS_PX < x < extent - NODE_RADIUS_PX for place in circles for x in place)
    arrows = [path for path in figure.iter(f"{SVG}path") if path.get("marker-end")]
    assert len(arrows) == 2
    # An arrow begins on the circle of its input node.
    x, y = map(float, arrows[0].get("d").split(" Q")[0].removeprefix("M").split())
    assert math.isclose(math.dist((x, y), circles[0]), NODE_RADIUS_PX, abs_tol=0.1)


def test_a_single_node_is_in_the_middle():
    figure = ET.fromstring(svg_text(parse('node "a" { x = 1 }')))
    (circle,) = figure.iter(f"{SVG}circle")
    middle = float(figure.get("width")) / 2
    assert math.isclose(float(circle.get("cx")), middle, abs_tol=0.6)
    assert math.isclose(float(circle.get("cy")), middle, abs_tol=0.6)
    assert [text.text for text in figure.iter(f"{SVG}text")] == ["a"]
