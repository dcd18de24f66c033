"""Texts whose expansion would take all time or memory are refused, whatever takes it."""

import pytest

from homodyn.errors import NetworkError
from homodyn.network import loading, network, parse

MANY = 'node "a{1:5000}" { x = "1" }\n'


def test_pairs_of_edges_are_counted_before_they_are_created():
    with pytest.raises(NetworkError, match="more than 50000 nodes and edges") as raised:
        parse(MANY + 'edge from "a{1:5000}" to "a{1:5000}" { y = "1" }\n')
    assert raised.value.line == 2


@pytest.mark.parametrize(
    "text",
    [
        'node "a{1:20000}" {\n' + "".join(f' x{k} = "{k}"\n' for k in range(500)) + "}\n",
        MANY + "".join("node | /" + "(a+)+" * 150 + 'b/ { z = "1" }\n' for _ in range(200)),
        'templates {\n node "t0" { x = "1" }\n'
        + "".join(f' node "t{k}" : t{k - 1}, t{k - 1} {{}}\n' for k in range(1, 60))
        + '}\nnode "a" : t59 {}\n',
        'node "a{1:200}" {}\nedge "e" from "a{1:200}" to "a{1:200}" {}\n' * 2,
    ],
    ids=["variables", "patterns", "templates", "labels"],
)
def test_expansions_that_take_too_long_end(text, monkeypatch):
    monkeypatch.setattr(loading, "MAX_EXPANSION_CPU_S", 0.3)
    with pytest.raises(NetworkError, match=r"its expansion needs more than 0\.3 s"):
        parse(text)


def test_assemblies_that_take_too_long_end(monkeypatch):
    monkeypatch.setattr(network, "MAX_ASSEMBLY_CPU_S", 0.3)
    functions = "".join(f'f{k}(x) = "f{k - 1}(x) + f{k - 1}(x + 1)"\n' for k in range(1, 40))
    text = 'node "a" {\nf0(x) = "sin(x)"\n' + functions + 'z\' = "f39(z)"\n}\n'
    with pytest.raises(NetworkError, match=r"need more than 0\.3 s .* contain each other"):
        parse(text).prepare()
