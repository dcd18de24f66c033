"""Programs specialized for known conditions."""

import casadi as ca

from homodyn.symbolic import kernel
from homodyn.symbolic.passes.lowering import lower_graph
from homodyn.symbolic.passes.partial_evaluation import PartialEvaluator
from homodyn.symbolic.passes.select import form_selects
from homodyn.symbolic.program import eliminate_dead_code
from support.programs import operation_counts


def test_known_conditions_are_decided_and_nothing_else_changes():
    def chosen(x, y):
        left = x > y
        both = ca.logic_and(left, ca.logic_not(y > 0))
        return {"left": left, "a": ca.if_else(left, x * y + 1, y / x), "b": both, "c": left + x}

    program = form_selects(lower_graph(kernel(chosen, {"x": (), "y": ()}).traced.graph))
    left, a, b, c = (value for _, _, value in sorted(program.results))
    for truth in (1.0, 0.0):
        known = PartialEvaluator(program)
        found = known.specialize({left: truth}, [a, b, c])
        part = eliminate_dead_code(
            known.instructions, [(0, k, value) for k, value in enumerate(found)]
        )
        counted = operation_counts(part)
        assert not counted["choose"]
        assert counted["mul"] == counted["not"] == truth
        assert counted["div"] == 1 - truth
    # The same values under other assumptions stand in one program.
    known = PartialEvaluator(program)
    free, decided = (known.specialize(given, [a])[0] for given in ({}, {left: 1.0}))
    assert known.instructions[free].arguments[1] == decided
