"""Trigonometric factoring: a common angle is factored out of sums of sines.

An oscillator at phase p that others are coupled to has the rate

    sum over k of f_k l_k sin(m_k + b_k - p) = A cos p - B sin p,
    A = sum of (f_k cos b_k) (l_k sin m_k) + (f_k sin b_k) (l_k cos m_k),
    B = sum of (f_k cos b_k) (l_k cos m_k) - (f_k sin b_k) (l_k sin m_k),

where f and b are loop-invariant, l and m are not. The first brackets are computed before the loop,
the second are shared by all oscillators that k is coupled to: four products and sums are left for
each pair, and no sine. Sums over nearly the same k are padded with zeros, so that all of them have
the same form. This pass changes rounding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from homodyn.symbolic.passes.loop_invariants import invariant_values
from homodyn.symbolic.passes.rewriter import Rewriter
from homodyn.symbolic.passes.trig_expansion import Summands, summands
from homodyn.symbolic.program import Instruction, Program, operands

MIN_SHARED_SINES = 4
"""Sines with a common angle that make a sum worth factoring."""

MAX_FACTORS = 6
"""Largest number of summands of an angle, and of factors of a product."""

MAX_PADDING_RATIO = 1.25
"""A sum is padded to at most this multiple of its length."""

VaryingPart = tuple[tuple[int, ...], Summands]
"""The part of a term that changes from step to step: factors, and angles with signs."""


@dataclass(frozen=True)
class SineTerm:
    """``sign`` times the factors times the sine, or cosine, of a sum of angles."""

    sign: int
    factors: tuple[int, ...]
    op: str
    angles: Summands


@dataclass
class FactoredSum:
    """A sum: the common angle, the terms that contain it, and other summands with signs.

    Terms are grouped by function and sign of the common angle, then by their varying part.
    """

    common_angle: int
    rest: Summands
    terms: dict[tuple[str, int], dict[VaryingPart, list[SineTerm]]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Number of sines."""
        return sum(len(one) for group in self.terms.values() for one in group.values())


def factor_trig_sums(program: Program, loop_ports: Collection[int]) -> Program:
    """Factor common angles out of sums of sines; the same program where that saves nothing."""
    found = _SumSearch(program, invariant_values(program, loop_ports))
    sums = found.sums()
    varying_parts = {key for one in sums.values() for group in one.terms.values() for key in group}
    moving = {value for _, angles in varying_parts for value, _ in angles}
    moving |= {one.common_angle for one in sums.values()}
    if not sums or 2 * len(moving) > sum(one.count for one in sums.values()):
        return program
    _pad_with_zeros(list(sums.values()))
    return _TrigFactoring(program, sums, found.fixed).program()


def _pad_with_zeros(sums: list[FactoredSum]) -> None:
    """Give sums over nearly the same varying parts all of them, in the same order."""
    families: list[dict[tuple[str, int, VaryingPart], None]] = []
    members: list[list[FactoredSum]] = []
    for one in sums:
        keys = {(*kind, key): None for kind, group in one.terms.items() for key in group}
        overlapping = [k for k, family in enumerate(families) if not keys.keys().isdisjoint(family)]
        joined = dict(keys)
        joint = [one]
        for k in reversed(overlapping):
            joined = families.pop(k) | joined
            joint = members.pop(k) + joint
        families.append(joined)
        members.append(joint)
    for family, joint in zip(families, members, strict=True):
        shortest = min(sum(map(len, one.terms.values())) for one in joint)
        if len(family) > MAX_PADDING_RATIO * shortest:
            continue
        for one in joint:
            known = one.terms
            one.terms = {}
            for op, sign, key in sorted(family):
                group = one.terms.setdefault((op, sign), {})
                group[key] = known.get((op, sign), {}).get(key, [])


class _SumSearch:
    """Finds sums with many sines of one angle."""

    def __init__(self, program: Program, fixed: list[bool]) -> None:
        self.program, self.fixed = program, fixed
        self.uses = Counter(a for one in program.instructions for a in operands(one))
        self.uses.update(value for _, _, value in program.results)

    def sums(self) -> dict[int, FactoredSum]:
        """Sums to factor, by their last value."""
        instructions = self.program.instructions
        inner: set[int] = set()
        found = {}
        for k in range(len(instructions) - 1, -1, -1):
            if instructions[k].op not in ("add", "sub") or k in inner or self.fixed[k]:
                continue
            leaves = self._leaves(k, inner)
            factored = self._factor(leaves) if len(leaves) >= MIN_SHARED_SINES else None
            if factored is not None:
                found[k] = factored
        return found

    def _leaves(self, top: int, inner: set[int]) -> list[tuple[int, int]]:
        """Summands of a sum whose partial sums are used nowhere else."""
        leaves = []
        waiting = [(top, 1)]
        while waiting:
            value, sign = waiting.pop()
            instruction = self.program.instructions[value]
            sum_of = instruction.op in ("add", "sub") and not self.fixed[value]
            if sum_of and (value == top or self.uses[value] == 1):
                inner.add(value)
                a, b = instruction.arguments
                waiting += [(b, -sign if instruction.op == "sub" else sign), (a, sign)]
            else:
                leaves.append((value, sign))
        return leaves

    def _factor(self, leaves: list[tuple[int, int]]) -> FactoredSum | None:
        terms = [self._term(value, sign) for value, sign in leaves]
        shared = Counter(
            value for term in terms if term is not None for value in self._sharable_angles(term)
        )
        if not shared:
            return None
        own, count = shared.most_common(1)[0]
        if count < MIN_SHARED_SINES:
            return None
        rest = []
        factored = FactoredSum(own, ())
        for leaf, term in zip(leaves, terms, strict=True):
            if term is None or own not in self._sharable_angles(term):
                rest.append(leaf)
                continue
            sign = dict(term.angles)[own]
            varying = tuple(sorted(value for value in term.factors if not self.fixed[value]))
            moving = tuple(
                (value, s) for value, s in term.angles if value != own and not self.fixed[value]
            )
            group = factored.terms.setdefault((term.op, sign), {})
            group.setdefault((varying, moving), []).append(term)
        factored.rest = tuple(rest)
        return factored

    def _sharable_angles(self, term: SineTerm) -> list[int]:
        """Angles of a term that vary and occur once, if there are others."""
        moving = Counter(value for value, _ in term.angles if not self.fixed[value])
        return [value for value, count in moving.items() if count == 1 and len(moving) > 1]

    def _term(self, value: int, sign: int) -> SineTerm | None:
        """A product with one sine of a sum of angles in it; None for anything else."""
        factors: list[int] = []
        sine: tuple[str, int] | None = None
        waiting = [value]
        while waiting:
            one = waiting.pop()
            instruction = self.program.instructions[one]
            if len(factors) + len(waiting) > MAX_FACTORS:
                return None
            if self.fixed[one]:
                factors.append(one)
            elif instruction.op == "neg":
                sign = -sign
                waiting.append(instruction.arguments[0])
            elif instruction.op == "mul":
                waiting += reversed(instruction.arguments)
            elif instruction.op in ("sin", "cos") and sine is None and self.uses[one] == 1:
                sine = (instruction.op, instruction.arguments[0])
            else:
                factors.append(one)
        if sine is None:
            return None
        return SineTerm(
            sign, tuple(factors), sine[0], summands(self.program, sine[1], self.fixed, MAX_FACTORS)
        )


class _TrigFactoring(Rewriter):
    """Replaces sums of sines by their factored form."""

    sort_operands = False

    def __init__(self, program: Program, sums: dict[int, FactoredSum], fixed: list[bool]) -> None:
        super().__init__(program)
        self.sums, self.fixed = sums, fixed

    def rewrite(self, k: int, instruction: Instruction) -> int:
        return self._sum(self.sums[k]) if k in self.sums else self.add(instruction)

    def _sum(self, factored: FactoredSum) -> int:
        own = self.number[factored.common_angle]
        sine, cosine = self.do("sin", own), self.do("cos", own)
        total: int | None = None
        for (op, sign), group in factored.terms.items():
            a, b = self._weighted_sums(group)
            # sin(R + s p) = sin R cos p + s cos R sin p, cos(R + s p) = cos R cos p - s sin R sin p
            first, second = (a, b) if op == "sin" else (b, a)
            minus = (sign < 0) == (op == "sin")
            one = self.do("mul", first, cosine)
            one = self.do("sub" if minus else "add", one, self.do("mul", second, sine))
            total = one if total is None else self.do("add", total, one)
        assert total is not None
        for value, sign in factored.rest:
            total = self.do("add" if sign > 0 else "sub", total, self.number[value])
        return total

    def _weighted_sums(self, group: dict[VaryingPart, list[SineTerm]]) -> tuple[int, int]:
        """The factors of all terms times the sines, and the cosines, of their other angles."""
        biased = any(self._bias(term) for terms in group.values() for term in terms)
        sines: int | None = None
        cosines: int | None = None
        for (factors, angles), terms in group.items():
            pair = self._sine_cosine(angles)
            assert pair is not None
            s, c = (self._scale(one, factors) for one in pair)
            cosine_weight, sine_weight = self._weights(terms)
            sines = self._accumulate(sines, "add", cosine_weight, s)
            cosines = self._accumulate(cosines, "add", cosine_weight, c)
            if biased:
                sines = self._accumulate(sines, "add", sine_weight, c)
                cosines = self._accumulate(cosines, "sub", sine_weight, s)
        assert sines is not None
        assert cosines is not None
        return sines, cosines

    def _bias(self, term: SineTerm) -> Summands:
        return tuple(one for one in term.angles if self.fixed[one[0]])

    def _weights(self, terms: list[SineTerm]) -> tuple[int, int]:
        """Sums of invariant factors times the cosine and the sine of invariant angles."""
        zero = self.constant(0.0)
        sums = [zero, zero]
        for term in terms:
            bias = self._sine_cosine(self._bias(term))
            steady = [self.number[value] for value in term.factors if self.fixed[value]]
            weight = self.constant(float(term.sign))
            for k, value in enumerate(steady):
                weight = value if k == 0 and term.sign > 0 else self.do("mul", weight, value)
            parts = [weight, zero] if bias is None else [self.do("mul", weight, bias[1])]
            if bias is not None:
                parts.append(self.do("mul", weight, bias[0]))
            sums = [
                part if total == zero else self.do("add", total, part)
                for total, part in zip(sums, parts, strict=True)
            ]
        return sums[0], sums[1]

    def _scale(self, value: int, factors: tuple[int, ...]) -> int:
        for factor in factors:
            value = self.do("mul", self.number[factor], value)
        return value

    def _accumulate(self, total: int | None, op: str, weight: int, value: int) -> int:
        """``total`` plus a product that is not shared, so that it can be contracted."""
        self.instructions.append(Instruction("mul", (weight, value)))
        product = len(self.instructions) - 1
        return product if total is None else self.do(op, total, product)

    def _sine_cosine(self, angles: Summands) -> tuple[int, int] | None:
        """Sine and cosine of a sum of angles from those of each; None for an empty sum."""
        pair: tuple[int, int] | None = None
        for value, sign in angles:
            at = self.number[value]
            s, c = self.do("sin", at), self.do("cos", at)
            if pair is None:
                pair = (s if sign > 0 else self.do("neg", s)), c
                continue
            add, sub = ("add", "sub") if sign > 0 else ("sub", "add")
            s0, c0 = pair
            pair = (
                self.do(add, self.do("mul", s0, c), self.do("mul", c0, s)),
                self.do(sub, self.do("mul", c0, c), self.do("mul", s0, s)),
            )
        return pair
