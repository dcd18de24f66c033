"""Outlined programs compute the same from fewer items."""

import numpy as np

from homodyn.network.c_blocks import MIN_BLOCK_LENGTH, BasicBlock, Item, call_order, outline

OPERATIONS = {"add": np.add, "mul": np.multiply, "sub": np.subtract}


def evaluate(body, blocks, inputs):
    """Results of a body, item by item."""
    values = {}

    def number(operand):
        if isinstance(operand, int):
            return values[operand]
        return inputs[int(operand[4:-1])] if "[" in operand else float(operand)

    for item in body.items:
        operands = [number(operand) for operand in item.operands]
        if item.block is None:
            found = [OPERATIONS[item.op](*operands)]
        else:
            found = evaluate(blocks[item.block], blocks, operands)
        values.update(zip(item.values, found, strict=True))
    return [number(result) for result in body.results]


def chain(rng, stages, length, first=0):
    """The same random operations again and again, each stage from the values of the last one."""
    ops = rng.choice(list(OPERATIONS), length)
    picks = rng.integers(0, 8, (length, 2))
    state = [f"in0[{k}]" for k in range(8)]
    items = []
    for _ in range(stages):
        local = list(state)
        for op, (a, b) in zip(ops, picks, strict=True):
            items.append(Item(str(op), (local[-8:][a], local[-8:][b]), (first + len(items),)))
            local.append(first + len(items) - 1)
        state = [*local[-3:], *state[:4], "0.5"]
    return BasicBlock(items, state)


def size(bodies):
    return sum(len(body.items) for body in bodies)


def test_outlined_programs_have_the_same_results_and_fewer_items():
    rng = np.random.default_rng(2)
    for stages, length in ((2, 60), (4, 40), (9, 25)):
        one = chain(np.random.default_rng(stages), stages, length)
        two = chain(np.random.default_rng(stages), 2, length, first=len(one.items))
        inputs = rng.uniform(-1, 1, 8)
        functions, blocks = outline([one, two])
        assert blocks
        assert size(functions) + size(blocks) < 0.6 * size([one, two])
        for before, after in zip((one, two), functions, strict=True):
            assert evaluate(after, blocks, inputs) == evaluate(before, [], inputs)


def test_windows_with_other_dependencies_are_not_merged():
    items = []
    for half in range(2):
        for k in range(2 * MIN_BLOCK_LENGTH):
            last = len(items) - 1
            # The operations agree; in the second half each uses the last value but one.
            first = "in0[0]" if k < 2 else last - half
            items.append(Item("mul", (first, "in0[1]"), (len(items),)))
    body = BasicBlock(items, [len(items) - 1, len(items) // 2 - 1])
    (found,), blocks = outline([body])
    inputs = np.array([1.1, 0.9])
    assert evaluate(found, blocks, inputs) == evaluate(body, [], inputs)


def test_short_programs_stay_as_they_are():
    body = BasicBlock([Item("add", ("in0[0]", "in0[1]"), (0,))], [0])
    assert outline([body]) == ([body], [])
    assert outline([]) == ([], [])


def test_blocks_come_after_the_blocks_that_they_call():
    call = Item("call", ("in0[0]",), (0,), 2)
    blocks = [BasicBlock([call], [0]), BasicBlock([], []), BasicBlock([], [])]
    order = call_order(blocks)
    assert sorted(order) == [0, 1, 2]
    assert order.index(2) < order.index(0)
