"""Errors in network texts, and their places."""

import pytest

from homodyn.errors import NetworkError
from homodyn.network import parse


def error_of(text):
    with pytest.raises(NetworkError) as caught:
        parse(text, name="file.cdn").prepare()
    return caught.value


def test_an_error_shows_file_line_column_the_line_and_a_caret():
    error = error_of('g = 9.81\nnode "a" {\n    y = $\n}\n')
    assert (error.path, error.line, error.column) == ("file.cdn", 3, 9)
    first, shown, caret = str(error).splitlines()
    assert first.startswith("file.cdn:3:9: '$' is not expected here; expected ")
    assert "a number" in first
    assert shown[caret.index("^")] == "$"


def test_an_incomplete_text_names_the_missing_token():
    error = error_of('node "a" {\n    y = 1\n')
    assert error.line == 2
    assert "}" in str(error)


def test_errors_in_formulas_point_into_the_quotes():
    error = error_of('a = 1\nb = "a + * 2"\n')
    assert (error.line, error.column) == (2, 10)


def test_unknown_names_suggest_the_nearest():
    error = error_of('stiffness = 5\nf = "2 * stifness"\n')
    assert "did you mean 'stiffness'?" in str(error)
    assert (error.line, error.column) == (2, 10)
    assert "did you mean 'sqrt'?" in str(error_of('f = "sqr(2)"\n'))
    assert "did you mean 'spring'?" in str(
        error_of('templates { node "spring" {} }\nnode "a" : sprig {}\n')
    )


def test_size_errors_name_both_shapes():
    error = error_of('a = "[1, 2, 3]"\nb = "[1; 2]"\nc = "a + b"\n')
    assert "1x3" in str(error)
    assert "2x1" in str(error)
    assert (error.line, error.column) == (3, 8)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('x = "y"\ny = "x"\n', "depends on itself: x -> y -> x"),
        ('node "a" {}\nedge from "a" to "b" {}\n', "no node 'b'"),
        ('node "a" {}\nedge from "b" to "a" {}\n', "no node 'b'"),
        ('node "a" {}\nedge from "a" to "a" { y\' += "1" }\n', "no variable 'y'"),
        ("x = 1 | onec\n", "did you mean 'once'?"),
        ('integrator { method = "rk5" }', "no method 'rk5'"),
        ("integrator { default-timestep = 0 }", "expected more than 0 s"),
        ('x = "@size"\n', "no macro 'size'"),
        ('node "a{1:2}" { x = [1, 2, 3] }', "3 values for"),
        ('a = "[1, 2; 3]"\n', "1x2, 1x1"),
        ('a = "[1, 2][2]"\n', "index 2 is outside 0 to 1 of a 1x2"),
        ('i = 0\ni\' = "1"\na = "[1, 2][i]"\n', "must be constant"),
        ('q = "[1; 2]"\nq\' = "[1, 2, 3]"\n', "q is 2x1; this equation is 1x3"),
        ('f(x) = "f(x)"\na = "f(1)"\n', "calls itself"),
        ('a = "sin(1, 2)"\n', "sin takes 1 arguments, not 2"),
        ('templates { node "a" : "a" {} }\nnode "b" : "a" {}', "inherit from each other: a > a"),
        ('node "n{1:100000000}" {}', "more than"),
        ("node /(/ {}", "this is not a regular expression"),
    ],
)
def test_errors_have_a_place(text, words):
    error = error_of(text)
    assert words in str(error)
    assert error.line >= 1


def test_files_outside_the_folder_are_refused_unless_allowed(tmp_path):
    from homodyn.network import load

    (tmp_path / "model").mkdir()
    (tmp_path / "secret.cdn").write_text("a = 1\n")
    main = tmp_path / "model" / "main.cdn"
    main.write_text('include "../secret.cdn"\n')
    with pytest.raises(NetworkError, match="outside the folder of the network"):
        load(main)
    assert load(main, allow_outside=True).get("a") == 1


def test_include_require_and_parse_read_other_files(tmp_path):
    from homodyn.network import load

    (tmp_path / "part.cdn").write_text('node "@name" { v = "@size" }\n')
    (tmp_path / "once.cdn").write_text('node "counted" {}\nedge from "counted" to "counted" {}\n')
    main = tmp_path / "main.cdn"
    main.write_text(
        'parse "part.cdn" { name = "a" size = 3 }\nparse "part.cdn" { name = "b" size = 4 }\n'
        'require "once.cdn"\nrequire "once.cdn"\n'
    )
    net = load(main)
    assert (net.get("a.v"), net.get("b.v")) == (3, 4)
    assert len(net.edges) == 1


def test_files_that_include_each_other_are_refused(tmp_path):
    from homodyn.network import load

    (tmp_path / "a.cdn").write_text('include "b.cdn"\n')
    (tmp_path / "b.cdn").write_text('include "a.cdn"\n')
    with pytest.raises(NetworkError, match="nested more than 20 deep"):
        load(tmp_path / "a.cdn")


def test_an_equation_of_an_event_state_that_never_occurs_has_no_effect():
    assert parse('x\' = "1" state "gone"\n').run(0.01)["x"][-1] == 0


def test_an_edge_adds_to_variables_of_its_input_node():
    net = parse("""
    node "total" { load = 0 each = "zeros(2, 1)" y = 1 }
    node "part{1:2}" { q = [3, 4] }
    edge from "total" to "part{1:2}" {
        weight = [1, 10]
        input.load += "weight * output.q"
        input.each[@index] += "output.q"
        input.y' += "-weight"
    }
    """)
    result = net.run(0.1, 0.1)
    assert result["total.load"][0] == 43
    assert result["total.each"][0].ravel().tolist() == [3, 4]
    assert result["total.y"][-1] == pytest.approx(1 - 1.1)
    assert "only an edge has an input" in str(error_of('node "a" { x = 1 input.x += "2" }'))
    unknown = error_of('node "a" { x = 1 }\nnode "b" {}\nedge from "a" to "b" { input.z += "2" }')
    assert "'z'" in str(unknown)
    assert unknown.line == 3


def test_dots_over_a_name_are_primes():
    net = parse('y = 1\nẏ = "-2 * y"\nz = 0\nz̈ = "3"\n')
    assert {one.path for one in net.system.states} == {"y", "z", "dz"}
    assert net.run(0.1, 0.1)["y"][-1] == pytest.approx(0.8)
