"""XML reading: places in messages, tolerated errors, refusals."""

import pytest

from homodyn.errors import FormatError
from homodyn.model.formats.xml import parse_xml, read_root_tag

ROBOT = b'<?xml version="1.0"?>\n<!-- a comment -->\n<robot name="r">\n<link a="1 2"/>\n</robot>'


def test_elements_know_their_line_and_children():
    root = parse_xml(ROBOT, "r.xml")
    (link,) = root.all("link")
    assert (root.tag, root.line, link.line) == ("robot", 3, 4)
    assert link.vector("a", (0.0, 0.0)).tolist() == [1.0, 2.0]
    assert link.vector("b", (3.0,)).tolist() == [3.0]
    assert root.find("joint") is None


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda root: root.require("joint"), r"line 3, <robot>: a <joint> is missing inside"),
        (lambda root: root.all("link")[0].get("b"), r"line 4, <link>: no attribute 'b'"),
        (lambda root: root.all("link")[0].number("a"), r"a must be a finite number, got '1 2'"),
        (lambda root: root.number("name"), r"name must be a finite number, got 'r'"),
    ],
)
def test_errors_name_the_line(read, message):
    with pytest.raises(FormatError, match=rf"r\.xml, .*{message}|{message}"):
        read(parse_xml(ROBOT, "r.xml"))


def test_double_hyphens_in_comments_and_latin_letters_are_tolerated():
    text = '<?xml version="1.0" encoding="utf-8"?>\n<!-- a -- b -->\n<robot name="\u00e9"/>'
    root = parse_xml(text.encode("latin-1"), "r.xml")
    assert root.attributes["name"] == "\u00e9"
    assert root.line == 3


def test_document_types_are_refused():
    with pytest.raises(FormatError, match=r"line 1: document types and entities"):
        parse_xml(b'<!DOCTYPE r [<!ENTITY a "b">]><r>&a;</r>', "r.xml")


@pytest.mark.parametrize("padding", [0, 10_000])
def test_the_root_tag_is_read_without_the_rest_of_the_file(tmp_path, padding):
    path = tmp_path / "r.xml"
    path.write_bytes(b"<!--" + b"x" * padding + b"-->" + ROBOT[22:] + b"<not <closed")
    assert read_root_tag(path) == "robot"


def test_a_file_without_a_root_is_refused(tmp_path):
    path = tmp_path / "r.xml"
    path.write_bytes(b"no markup")
    with pytest.raises(FormatError, match="not complete XML"):
        read_root_tag(path)
