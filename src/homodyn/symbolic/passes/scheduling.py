"""Scheduling: instructions are ordered so that values are used soon after they are computed.

A processor has 16 to 32 vector registers and a small first cache. In the order of the graph
hundreds of values are live at once. Here the next instruction is always the one that ends the most
live ranges, and among those the one that became ready last. The bits stay the same.
"""

from __future__ import annotations

from heapq import heappop, heappush

from homodyn.symbolic.program import Instruction, Program, operands

REMATERIALIZED_OPERATIONS = ("input", "const")
"""Operations whose values are rematerialized where they are needed."""


def schedule(program: Program) -> Program:
    """Reorder a program so that few values are live at once."""
    instructions = program.instructions
    count = len(instructions)
    needs = [
        tuple(
            {
                a
                for a in operands(instruction)
                if instructions[a].op not in REMATERIALIZED_OPERATIONS
            }
        )
        for instruction in instructions
    ]
    waiting = [0] * count
    # The sum of the users still to come: once one is left, it is that user.
    users = [0] * count
    following: list[list[int]] = [[] for _ in range(count)]
    for k, needed in enumerate(needs):
        for a in needed:
            waiting[a] += 1
            users[a] += k
            following[a].append(k)
    missing = [len(needed) for needed in needs]
    gain = [0] * count
    for a in range(count):
        if waiting[a] == 1:
            gain[users[a]] += 1

    since = [0] * count
    ready: list[tuple[int, int, int]] = []
    done = [instruction.op in REMATERIALIZED_OPERATIONS for instruction in instructions]
    for k in range(count):
        if not done[k] and missing[k] == 0:
            heappush(ready, (-gain[k], 0, k))
    order: list[int] = []
    while ready:
        stale_gain, _, k = heappop(ready)
        if done[k] or -stale_gain != gain[k]:
            continue
        done[k] = True
        order.append(k)
        for a in needs[k]:
            waiting[a] -= 1
            users[a] -= k
            if waiting[a] == 1:
                last = users[a]
                gain[last] += 1
                if missing[last] == 0 and not done[last]:
                    heappush(ready, (-gain[last], -since[last], last))
        for user in following[k]:
            missing[user] -= 1
            if missing[user] == 0:
                since[user] = len(order)
                heappush(ready, (-gain[user], -since[user], user))
    return _renumber(program, order)


def _renumber(program: Program, order: list[int]) -> Program:
    """The program renumbered; inputs and constants come right before their first use."""
    number: dict[int, int] = {}
    placed: list[Instruction] = []

    def place(k: int) -> int:
        if k not in number:
            instruction = program.instructions[k]
            arguments = tuple(place(a) for a in operands(instruction))
            if arguments:
                instruction = Instruction(instruction.op, arguments, instruction.payload)
            number[k] = len(placed)
            placed.append(instruction)
        return number[k]

    for k in order:
        place(k)
    results = tuple((port, entry, place(value)) for port, entry, value in program.results)
    return Program(tuple(placed), results)


def split_points(program: Program, length: int) -> list[int]:
    """Where to split a program into runs of about ``length``: where the fewest values are live."""
    count = len(program)
    pieces = max(1, -(-count // length))
    if pieces == 1:
        return [0, count]
    waiting = _live_counts(program)
    marks = [0]
    for piece in range(1, pieces):
        middle = piece * count // pieces
        reach = count // pieces // 3
        choices = range(max(marks[-1] + 1, middle - reach), min(count, middle + reach))
        marks.append(min(choices, key=lambda k: (waiting[k], abs(k - middle))))
    return [*marks, count]


def _live_counts(program: Program) -> list[int]:
    """For each place before an instruction, the number of live values."""
    last: dict[int, int] = {}
    for k, instruction in enumerate(program.instructions):
        for a in operands(instruction):
            last[a] = k
    change = [0] * (len(program) + 1)
    for value, use in last.items():
        if program.instructions[value].op not in REMATERIALIZED_OPERATIONS:
            change[value + 1] += 1
            change[use + 1] -= 1
    total = 0
    counted = []
    for step in change:
        total += step
        counted.append(total)
    return counted
