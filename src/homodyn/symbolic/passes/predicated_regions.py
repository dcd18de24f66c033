"""Predicated regions: work that only matters under a condition, skipped where no lane needs it.

A value that feeds nothing but "v where c, else 0" is not needed while c is false in all lanes of a
vector: forces of a leg in the air, equations of an inactive event state. Such instructions form
regions, each behind one branch. Where two regions would depend on each other, none is formed. The
bits stay the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from homodyn.symbolic.program import COMPARISONS, EXPENSIVE_OPERATIONS, Program, operands

MIN_REGION_INSTRUCTIONS = 8
"""Smallest region that is worth a branch; one instruction must be expensive."""


@dataclass(frozen=True)
class Region:
    """Instructions needed where ``condition`` is true, and those of them used outside."""

    condition: int
    members: tuple[int, ...]
    roots: tuple[int, ...]


def find_regions(program: Program, excluded: set[int]) -> list[Region]:
    """Regions of a program; values in ``excluded`` stay outside."""
    instructions = program.instructions
    users: list[list[int]] = [[] for _ in instructions]
    for k, instruction in enumerate(instructions):
        for a in operands(instruction):
            users[a].append(k)
    kept = {value for _, _, value in program.results} | excluded
    under: dict[int, int] = {}
    for k in range(len(instructions) - 1, -1, -1):
        op = instructions[k].op
        if k in kept or op in ("input", "const", "and", "or", "if_else_zero", *COMPARISONS):
            continue
        conditions = set()
        for user in users[k]:
            other = instructions[user]
            # A truth value also exists as a mask, which cannot be replaced outside the region.
            if other.op == "if_else_zero" and other.arguments[0] != k and op != "not":
                conditions.add(other.arguments[0])
            else:
                conditions.add(under.get(user, -1))
        if len(conditions) == 1 and -1 not in conditions:
            under[k] = conditions.pop()
    found = []
    for condition, members in _connected_groups(program, under):
        is_expensive = any(instructions[k].op in EXPENSIVE_OPERATIONS for k in members)
        if is_expensive and len(members) >= MIN_REGION_INSTRUCTIONS:
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
        required = {a for k in members for a in operands(program.instructions[k])}
        if isinstance(item, Region):
            required.add(item.condition)
        own = place[item]
        needs.append({place[home.get(a, a)] for a in required} - {own})
    following: list[list[int]] = [[] for _ in items]
    for n, required_items in enumerate(needs):
        for before in required_items:
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
