"""Generators, contexts, selectors, templates and lists."""

import pytest

from homodyn.errors import NetworkError
from homodyn.network import Network, parse


@pytest.mark.parametrize(
    ("generator", "names"),
    [
        ("n{1:3}", ["n1", "n2", "n3"]),
        ("n{3:-1:1}", ["n3", "n2", "n1"]),
        ("n{a,b}_{1:2}", ["na_1", "na_2", "nb_1", "nb_2"]),
        ("n{1:5}[$(@0 * 2)]", ["n2", "n4", "n6", "n8", "n10"]),
        ("n{x{1:2},y}", ["nx1", "nx2", "ny"]),
        ("n$(2 + 3)", ["n5"]),
    ],
)
def test_generators(generator, names):
    assert list(parse(f'node "{generator}" {{}}\n').nodes) == names


def test_a_reduced_generator_is_one_name():
    assert list(parse('node "n{1:3}[|$(@0 + @1)]" {}\n').nodes) == ["n6"]
    net = parse('node "a{1:3}" { v = "@1" }\nv = "{a1.v,a2.v,a3.v}[|@0 + @1]"\n')
    assert net.run(0)["v"][0] == 6


def test_contexts_reach_outwards():
    net = parse(
        'node "n{1:2}{a,b}" { "{x,y}" = "$(@@1 * 10)" node "c{7:8}" { v = "$(@@1 + @@@1)" } }'
    )
    assert net.get("n2a.x") == 20
    assert net.get("n2b.c7.v") == 9


def test_macros_are_replaced_by_their_text():
    net = parse('defines { n = "3" m = "$(@n + 1)" }\nnode "n{1:@n}" {}\nv = "@m * 2"\n')
    assert len(net.nodes) == 3
    assert net.get("v") == 8


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("nodes", ["a1", "a2", "b"]),
        ("nodes | first", ["a1"]),
        ("nodes | last", ["b"]),
        ('"a{1:2}"', ["a1", "a2"]),
        ("/a(.)/", ["a1", "a2"]),
        ("root", [""]),
        ("root | children | nodes", ["a1", "a2", "b"]),
        ("edges | input", ["a1"]),
        ("edges | output", ["b"]),
        ("nodes | outputs | output", ["b"]),
        ("nodes | if(inputs)", ["b"]),
        ("nodes | not(inputs)", ["a1", "a2"]),
        ("nodes.nodes", ["inner"]),
        ("recurse(children | nodes)", ["inner"]),
        ("root | recurse(children | nodes)", ["a1", "a2", "b", "inner"]),
        ("has-template(tt)", ["a2"]),
        ('nodes | if(children | variables | "v")', ["a1"]),
        ("nodes | children | parent", ["a1", "b"]),
    ],
)
def test_selectors(selector, expected):
    net = parse(
        'templates { node "tt" {} }\nnode "a1" { v = 1 }\nnode "a2" : tt {}\n'
        'node "b" { node "inner" {} }\nedge from "a1" to "b" {}\n'
        f"node | {selector} {{ mark = 1 }}\n"
    )
    marked = [one.name for one in net.walk() if "mark" in one.variables]
    assert sorted(marked) == sorted(expected)


def test_lists_are_distributed_over_objects_and_directions_of_edges():
    net = parse(
        'node "n{1:3}" { m = [1, 2, "1 + 2"] }\n'
        '<bidirectional>\nedge from "n{1:3}" to "n$(@1 + 1)" { s = [-1, 1] }\n'
    )
    assert [net.get(f"n{k}.m") for k in (1, 2, 3)] == [1, 2, 3]
    assert [net.get(f"{name}.s") for name in net.edges] == [-1, 1, -1, 1]


def test_templates_inherit_override_and_nest():
    net = parse(
        'templates {\n node "base" { a = 1 x\' = "a" }\n '
        'node "child" : base { a = 2 x\' = "a * 10" }\n'
        ' node "pair" { node "p{1:2}" : child {} }\n}\nnode "n" : pair {}\nnode "n" { k = 5 }\n'
    )
    assert net.run(1)["n.p1.x"][-1] == pytest.approx(20)
    assert net.get("n.k") == 5


def test_names_are_looked_up_inside_out_and_in_edges_first_in_the_input():
    net = parse(
        'k = 1\nw = 100\nnode "a" { k = 2 v = "k" y = 7 }\nnode "b" { y = 9 z = 0 v = "k" }\n'
        'edge from "a" to "b" { z <= "y + 10 * output.y + w" }\n'
    )
    record = net.run(0)
    assert record["a.v"][0] == 2
    assert record["b.v"][0] == 1
    assert record["b.z"][0] == 7 + 90 + 100


def test_additions_to_a_normal_variable_add_to_its_own_formula():
    net = parse(
        'node "a" { y = 3 }\nnode "b" { z = 1 }\nedge from "a" to "b" { z += "y" }\n'
        'edge from "a" to "b" { z += "2 * y" }\n'
    )
    assert net.run(0)["b.z"][0] == 10


def test_discrete_variables_are_maps_and_once_keeps_the_first_value():
    net = parse(
        'x = 1 | discrete\nx <= "2 * x"\ny = 1 | discrete\ny += "x"\ny += "1"\n'
        's\' = "1"\nfirst = "s + rand(0, 1)" | once\n'
    )
    record = net.run(0.004)
    assert record["x"].tolist() == [1, 2, 4, 8, 16]
    assert record["y"].tolist() == [1, 2, 3, 5, 9]
    assert len(set(record["first"])) == 1


def test_elements_of_a_state_have_equations_of_their_own():
    net = parse('a = "[0, 0, 0]"\na\'[0, 2] += "[1, 2]"\na\' += "[10, 10, 10]"\n')
    assert net.run(1)["a"][-1].ravel() == pytest.approx([11, 10, 12])


def test_constraints_hold_after_every_step():
    net = parse('q = "[1; 0]" ("q / hypot(q)")\nq\' = "[-q[1]; q[0]]"\n')
    record = net.run(1, 0.01)
    assert (record["q"] ** 2).sum(1) == pytest.approx(1)


def test_matrix_states_of_second_order_take_the_size_of_their_position():
    net = parse('q = "[1; 2]"\nq\'\' = "-q"\n')
    assert net.run(0.5)["dq"].shape == (501, 2)


def test_the_same_network_built_in_python():
    text = parse(
        'g = 9.81\nnode "n{1:2}" { y = [20, 8] m = [0.6, 0.4] y\'\' = "-g - dy / m" }\n'
        '<bidirectional> edge from "n1" to "n2" '
        '{ K = 5 dy\' += "K * (input.y - output.y) / output.m" }'
    )
    net = Network()
    net.variable("g", 9.81)
    a, b = net.node("n1", y=20, m=0.6), net.node("n2", y=8, m=0.4)
    for node in (a, b):
        node.equation("y''", "-g - dy / m")
    for one, other in ((a, b), (b, a)):
        edge = net.edge(one, other, K=5)
        edge.equation("dy'", "K * (input.y - output.y) / output.m", operator="+=")
    assert net.run(1)["n1.y"].tolist() == text.run(1)["n1.y"].tolist()


def test_generated_templates_have_groups_and_lists():
    net = parse(
        'templates { node "turn{X,Y}" { node "inside" { k = [3, 4] } }\n'
        'node "twice{X,Y}" : "turn@1" { f = "2 * inside.k" } }\n'
        + 'node "a{1:2}" : turnX {}\nnode "b" : twiceY {}\n'
    )
    record = net.run(0)
    assert [record[f"{name}.inside.k"][0] for name in ("a1", "a2", "b")] == [3, 3, 4]
    assert record["b.f"][0] == 8
    assert net.nodes["b"].templates == ["turnY", "twiceY"]


def test_objects_of_one_statement_are_counted():
    net = parse(
        'node "{a,b,c}" { k = "@index" of = "@count" node "in" { k = "@index" } }\n'
        'edge from "{a,b}" to ["b", "c"] { w = "10 * @index" }\n'
    )
    record = net.run(0)
    assert [record[f"{name}.k"][0] for name in "abc"] == [0, 1, 2]
    assert record["c.of"][0] == 3
    assert record["c.in.k"][0] == 0
    pairs = [(edge.input.name, edge.output.name) for edge in net.edges.values()]
    assert pairs == [("a", "b"), ("b", "c")]
    assert record["b_c.w"][0] == 10
    assert parse('defines { index = 7 }\nnode "a" { k = "@index" }\n').run(0)["a.k"][0] == 7


def test_edges_are_reopened_by_selectors():
    net = parse(
        'templates { edge "wire" {} }\nnode "n{1:3}" { x = 0 }\n'
        'edge from "n1" to "n2" : wire {}\nedge from "n1" to "n3" {}\n'
        'edge | edges | has-template("wire") { x <= "5" }\n'
    )
    record = net.run(0)
    assert [record[f"n{k}.x"][0] for k in (1, 2, 3)] == [0, 5, 0]


def test_selectors_may_find_nothing_but_unknown_names_are_errors():
    assert not parse('node "a" {}\nedge from nodes | has-template("x") to "a" {}\n').edges
    with pytest.raises(NetworkError, match="no node 'b'"):
        parse('node "a" {}\nedge from "b" to "a" {}\n')


def test_indices_of_equations_may_be_formulas():
    net = parse(
        'n = 2\nH = "zeros(n + 1, n + 1)"\nH[0:n, :] += "zeros(n, n + 1) + 1"\n'
        'H[n, n] += 7\nx = "zeros(4, 1)"\nx\'[0, n] += "[1; 2]"\nx\'[n + 1] = 3\n'
    )
    record = net.run(1, 0.5)
    expected = [[1, 1, 1], [1, 1, 1], [0, 0, 7]]
    assert record["H"][0].tolist() == expected
    assert record["x"][-1].tolist() == [1, 0, 2, 3]
    assert net.set(n=1).run(0)["H"][0].tolist() == [[1, 1], [0, 7]]
    with pytest.raises(NetworkError, match="index 3 is outside 0 to 2"):
        parse('x = "zeros(3, 1)"\nx\'[1 + 2] = 3\n').run(1)
