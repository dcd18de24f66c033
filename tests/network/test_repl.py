"""Queries of a running network: values, derivatives, parameters and runs."""

import math

import pytest

from homodyn.errors import NetworkError
from homodyn.network import parse
from homodyn.network.repl import ReplSession, match_variables

DECAY = """
node "cell" {
    rate = 0.5
    x = 2
    x' = "-rate * x"
    double = "2 * x"
}
node "other" { y = 1 }
"""


@pytest.fixture
def session():
    return ReplSession(parse(DECAY), 0.001)


def first_number(text):
    return float(text.splitlines()[0])


def test_a_formula_has_its_value_rate_and_partial_derivatives(session):
    lines = session.execute("cell.x ^ 2").splitlines()
    assert float(lines[0]) == pytest.approx(4.0)
    assert float(lines[1].partition("=")[2]) == pytest.approx(2 * 2 * -0.5 * 2)
    partials = dict(line.strip().removeprefix("d/d ").split(" = ") for line in lines[2:])
    assert float(partials["cell.x"]) == pytest.approx(4.0)


def test_a_run_advances_to_the_exact_solution_and_restarts(session):
    assert session.prompt == "t = 0 s > "
    assert session.execute("run 1") == "1000 steps, 0 events"
    assert session.prompt == "t = 1 s > "
    assert first_number(session.execute("cell.x")) == pytest.approx(2 * math.exp(-0.5), rel=1e-3)
    assert session.execute("restart") == ""
    assert first_number(session.execute("cell.x")) == 2.0


def test_parameters_change_at_once_and_initial_values_at_the_restart(session):
    assert session.execute("cell.rate = 3 * 2") == "cell.rate = 6"
    assert session.execute("cell.x = 5") == "the initial value of cell.x is 5; restart to use it"
    session.execute("restart")
    assert first_number(session.execute("cell.x")) == 5.0
    assert first_number(session.execute("cell.rate")) == 6.0


def test_names_are_listed_by_pattern_with_their_values(session):
    rows = dict(line.split() for line in session.execute("names cell.*").splitlines())
    assert rows == {"cell.rate": "0.5", "cell.x": "2", "cell.double": "4"}
    assert "other.y" in session.execute("names")
    assert match_variables(session.net, ["*.y", "cell.x"]) == ["other.y", "cell.x"]


def test_comments_help_and_quit(session):
    assert session.execute("   # nothing") == ""
    assert "run SECONDS" in session.execute("help")
    assert not session.finished
    session.execute("quit")
    assert session.finished


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("run fast", "run needs a number of seconds, not 'fast'"),
        ("names q*", r"variable 'q\*'"),
        ("cell.z", "cell"),
    ],
)
def test_wrong_lines_are_refused(session, line, message):
    with pytest.raises(NetworkError, match=message):
        session.execute(line)
