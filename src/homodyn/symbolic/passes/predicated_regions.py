"""Work that counts under a condition only, left out where no lane meets the condition.

What goes into nothing but "v where c, else 0" need not be known while c is false in all lanes of a
vector: forces of a leg that is in the air, equations of an event-state that nobody is in. Such
instructions are gathered into regions, each behind one branch; where two of them would have to wait
for each other, none is made. The bits stay the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from homodyn.symbolic.program import COMPARISONS, EXPENSIVE_OPERATIONS, Program, operands

MIN_REGION_INSTRUCTIONS = 8
"""Instructions that a region must have, one of them heavy, to be worth a branch."""


@dataclass(frozen=True)
class Region:
    """Instructions that count where ``condition`` holds, and those of them used outside."""

    condition: int
    members: tuple[int, ...]
    roots: tuple[int, ...]


def find_regions(program: Program, apart: set[int]) -> list[Region]:
    """Regions of a program; values in ``apart`` stay outside."""
    instructions = program.instructions
    users: list[list[int]] = [[] for _ in instructions]
    for k, instruction in enumerate(instructions):
        for a in operands(instruction):
            users[a].append(k)
    kept = {value for _, _, value in program.results} | apart
    under: dict[int, int] = {}
    for k in range(len(instructions) - 1, -1, -1):
        op = instructions[k].op
        if k in kept or op in ("input", "const", "and", "or", "if_else_zero", *COMPARISONS):
            continue
        asked = set()
        for user in users[k]:
            other = instructions[user]
            # A truth is also kept as a mask, which has no value to stand for it outside.
            if other.op == "if_else_zero" and other.arguments[0] != k and op != "not":
                asked.add(other.arguments[0])
            else:
                asked.add(under.get(user, -1))
        if len(asked) == 1 and -1 not in asked:
            under[k] = asked.pop()
    found = []
    for condition, members in _connected_groups(program, under):
        heavy = any(instructions[k].op in EXPENSIVE_OPERATIONS for k in members)
        if heavy and len(members) >= MIN_REGION_INSTRUCTIONS:
            inside = set(members)
            roots = tuple(k for k in members if not inside.issuperset(users[k]))
            found.append(Region(condition, tuple(members), roots))
    return found


def _connected_groups(program: Program, under: dict[int, int]) -> list[tuple[int, list[int]]]:
    """Values under one condition that depend on each other, in order."""
    leader = {k: k for k in under}

    def first(k: int) -> int:
        while leader[k] != k:
            leader[k] = leader[leader[k]]
            k = leader[k]
        return k

    for k, condition in under.items():
        for a in operands(program.instructions[k]):
            if under.get(a) == condition:
                leader[first(a)] = first(k)
    groups: dict[int, list[int]] = {}
    for k in sorted(under):
        groups.setdefault(first(k), []).append(k)
    return [(under[members[0]], members) for members in groups.values()]


def order_with_regions(program: Program, found: list[Region]) -> list[int | Region] | None:
    """Instructions and regions in an order in which they can be computed; None without one."""
    home: dict[int, Region] = {k: region for region in found for k in region.members}
    items: list[int | Region] = [*found, *(k for k in range(len(program)) if k not in home)]
    place = {item: n for n, item in enumerate(items)}
    needs: list[set[int]] = []
    for item in items:
        members = item.members if isinstance(item, Region) else (item,)
        wanted = {a for k in members for a in operands(program.instructions[k])}
        if isinstance(item, Region):
            wanted.add(item.condition)
        own = place[item]
        needs.append({place[home.get(a, a)] for a in wanted} - {own})
    following: list[list[int]] = [[] for _ in items]
    for n, wanted_items in enumerate(needs):
        for before in wanted_items:
            following[before].append(n)
    missing = [len(one) for one in needs]

    def rank(n: int) -> tuple[int, int]:
        item = items[n]
        return (item.members[-1] if isinstance(item, Region) else item), n

    ready = [rank(n) for n, count in enumerate(missing) if not count]
    heapify(ready)
    order: list[int | Region] = []
    while ready:
        _, n = heappop(ready)
        order.append(items[n])
        for user in following[n]:
            missing[user] -= 1
            if not missing[user]:
                heappush(ready, rank(user))
    return order if len(order) == len(items) else None
