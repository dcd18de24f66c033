"""Nodes are excluded after failures in a row."""

from homodyn.search.evaluation.node_health import MAX_STRIKES, NodeHealth


def test_the_last_of_several_failures_in_a_row_excludes_a_node_once():
    health = NodeHealth()
    answers = [health.record_failure("a") for _ in range(MAX_STRIKES + 2)]
    assert answers == [False] * (MAX_STRIKES - 1) + [True, False, False]
    assert health.excluded == {"a"}


def test_a_success_forgives_earlier_failures_of_that_node_only():
    health = NodeHealth()
    for _ in range(MAX_STRIKES - 1):
        assert not health.record_failure("a")
        assert not health.record_failure("b")
    health.record_success("a")
    assert not health.record_failure("a")
    assert health.record_failure("b")
    assert health.excluded == {"b"}
