"""What a text is refused for, and where."""

import pytest

from homodyn.errors import NetworkError
from homodyn.network import parse


def refused(text):
    with pytest.raises(NetworkError) as caught:
        parse(text, name="file.cdn").prepare()
    return caught.value


def test_an_error_shows_file_line_column_the_line_and_a_caret():
    error = refused('g = 9.81\nnode "a" {\n    y = $\n}\n')
    assert (error.path, error.line, error.column) == ("file.cdn", 3, 9)
    first, shown, caret = str(error).splitlines()
    assert first.startswith("file.cdn:3:9: '$' is not expected here; expected ")
    assert "a number" in first
    assert shown[caret.index("^")] == "$"


def test_a_text_that_ends_too_early_says_what_would_close_it():
    error = refused('node "a" {\n    y = 1\n')
    assert error.line == 2
    assert "}" in str(error)


def test_errors_in_formulas_point_into_the_quotes():
    error = refused('a = 1\nb = "a + * 2"\n')
    assert (error.line, error.column) == (2, 10)


def test_unknown_names_suggest_the_nearest():
    error = refused('stiffness = 5\nf = "2 * stifness"\n')
    assert "did you mean 'stiffness'?" in str(error)
    assert (error.line, error.column) == (2, 10)
    assert "did you mean 'sqrt'?" in str(refused('f = "sqr(2)"\n'))
    assert "did you mean 'spring'?" in str(
        refused('templates { node "spring" {} }\nnode "a" : sprig {}\n')
    )


def test_size_errors_name_both_shapes():
    error = refused('a = "[1, 2, 3]"\nb = "[1; 2]"\nc = "a + b"\n')
    assert "1x3" in str(error)
    assert "2x1" in str(error)
    assert (error.line, error.column) == (3, 8)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('x = "y"\ny = "x"\n', "needs itself: x -> y -> x"),
        ('node "a" {}\nedge from "a" to "b" {}\n', "no edge comes of this: no pair of nodes 'b'"),
        ('node "a" {}\nedge from "b" to "a" {}\n', "no edge comes of this: no pair of nodes 'b'"),
        ('node "a" {}\nedge from "a" to "a" { y\' += "1" }\n', "no variable 'y'"),
        ("x = 1 | onec\n", "did you mean 'once'?"),
        ('integrator { method = "rk5" }', "no method 'rk5'"),
        ("integrator { default-timestep = 0 }", "expected above 0"),
        ('x = "@size"\n', "no macro 'size'"),
        ('node "a{1:2}" { x = [1, 2, 3] }', "3 values for"),
        ('a = "[1, 2; 3]"\n', "1x2, 1x1"),
        ('a = "[1, 2][2]"\n', "index 2 is outside 0 to 1 of a 1x2"),
        ('i = 0\ni\' = "1"\na = "[1, 2][i]"\n', "must be known before a run"),
        ('q = "[1; 2]"\nq\' = "[1, 2, 3]"\n', "q is 2x1 and this 1x3"),
        ('f(x) = "f(x)"\na = "f(1)"\n', "calls itself"),
        ('a = "sin(1, 2)"\n', "sin takes 1 arguments, not 2"),
        ('templates { node "a" : "a" {} }\nnode "b" : "a" {}', "circle"),
        ('node "n{1:100000000}" {}', "more than"),
        ("node /(/ {}", "this is no pattern"),
    ],
)
def test_what_cannot_be_is_refused_with_a_place(text, words):
    error = refused(text)
    assert words in str(error)
    assert error.line >= 1


def test_files_outside_the_folder_are_refused_unless_allowed(tmp_path):
    from homodyn.network import load

    (tmp_path / "model").mkdir()
    (tmp_path / "secret.cdn").write_text("a = 1\n")
    main = tmp_path / "model" / "main.cdn"
    main.write_text('include "../secret.cdn"\n')
    with pytest.raises(NetworkError, match="outside the folder of the model"):
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
    with pytest.raises(NetworkError, match="include each other"):
        load(tmp_path / "a.cdn")


def test_an_equation_for_an_event_state_that_never_comes_stays_silent():
    assert parse('x\' = "1" state "gone"\n').run(0.01)["x"][-1] == 0


def test_dots_over_a_name_are_primes():
    net = parse('y = 1\nẏ = "-2 * y"\nz = 0\nz̈ = "3"\n')
    assert {one.path for one in net.system.states} == {"y", "z", "dz"}
    assert net.run(0.1, 0.1)["y"][-1] == pytest.approx(0.8)
