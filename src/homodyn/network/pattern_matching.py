"""Regular expressions that match in time linear in the text: a Pike machine without backtracking.

Patterns come from network files. The matcher of Python needs time exponential in the length of a
name for patterns such as ``(a+)+b``. This one advances all alternatives by one character at a time
(Thompson 1968; with groups: Pike, in Cox 2009, "Regular expression matching: the virtual machine
approach"), so that the cost is the length of the name times the size of the pattern. The syntax is
that of Python without back-references and look-around, which no such machine can match. It accepts
the same names as Python; groups differ only where a repetition can match nothing.
"""

from __future__ import annotations

import re
import re._constants as sre  # type: ignore[import-not-found]
import re._parser as sre_parser  # type: ignore[import-not-found]
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

MAX_PATTERN_CHARACTERS = 1000
MAX_PROGRAM_SIZE = 5000
"""Instructions of a pattern; counted repetitions such as ``{3,9}`` are unrolled."""
MAX_PATTERN_DEPTH = 50
_FLAGS = re.UNICODE | re.ASCII | re.IGNORECASE | re.DOTALL

Test = Callable[[str], bool]


class PatternError(ValueError):
    """A text that is not a pattern, or one that cannot be matched in linear time."""


@dataclass
class _Instruction:
    """An instruction: consume a character, jump, split, store a position, or check a position."""

    kind: str
    test: Test | None = None
    targets: tuple[int, ...] = ()
    slot: int = 0


@dataclass
class LinearPattern:
    """A compiled pattern.

    Args:
        text: The pattern, in the syntax of Python.

    Raises:
        PatternError: The text is not a pattern, is too large, or has parts that need backtracking.
    """

    text: str
    groups: int = field(init=False, default=0)
    """Number of groups."""

    def __post_init__(self) -> None:
        if len(self.text) > MAX_PATTERN_CHARACTERS:
            raise PatternError(
                f"it has {len(self.text)} characters; the limit is {MAX_PATTERN_CHARACTERS}"
            )
        try:
            parsed = sre_parser.parse(self.text)
        except (re.error, RecursionError, OverflowError, ValueError) as error:
            raise PatternError(str(error) or "it is nested too deeply") from None
        if parsed.state.flags & ~_FLAGS:
            raise PatternError("flags other than (?a), (?i) and (?s) are not supported")
        self.groups = parsed.state.groups - 1
        self._program: list[_Instruction] = []
        self._compile(list(parsed), parsed.state.flags, 0)
        self._emit(_Instruction("match"))

    def fullmatch(self, text: str) -> tuple[str | None, ...] | None:
        """The groups of a match of the whole text.

        Args:
            text: The text.

        Returns:
            The text, then each group, which is None where it took no part; None without a match.
        """
        slots: tuple[int, ...] = (-1,) * (2 * self.groups + 2)
        threads = self._follow([(0, slots)], 0, text)
        for position, letter in enumerate(text):
            moved = []
            for at, saved in threads:
                test = self._program[at].test
                if test is not None and test(letter):
                    moved.append((at + 1, saved))
            threads = self._follow(moved, position + 1, text)
            if not threads:
                return None
        for at, saved in threads:
            if self._program[at].kind == "match":
                return (text, *(self._group(text, saved, k) for k in range(1, self.groups + 1)))
        return None

    def _group(self, text: str, slots: tuple[int, ...], group: int) -> str | None:
        start, stop = slots[2 * group], slots[2 * group + 1]
        return None if start < 0 or stop < 0 else text[start:stop]

    def _follow(
        self, starts: list[tuple[int, tuple[int, ...]]], position: int, text: str
    ) -> list[tuple[int, tuple[int, ...]]]:
        """The threads that wait for a character, in order of precedence; each place once."""
        found: list[tuple[int, tuple[int, ...]]] = []
        seen: set[int] = set()
        pending = starts[::-1]
        while pending:
            at, slots = pending.pop()
            if at in seen:
                continue
            seen.add(at)
            instruction = self._program[at]
            if instruction.kind in ("split", "jump"):
                pending += [(target, slots) for target in reversed(instruction.targets)]
            elif instruction.kind == "save":
                slot = instruction.slot
                pending.append((at + 1, (*slots[:slot], position, *slots[slot + 1 :])))
            elif instruction.kind == "check":
                if _is_at(instruction.slot, position, text):
                    pending.append((at + 1, slots))
            else:
                found.append((at, slots))
        return found

    def _emit(self, instruction: _Instruction) -> int:
        if len(self._program) >= MAX_PROGRAM_SIZE:
            raise PatternError(f"it has more than {MAX_PROGRAM_SIZE} steps after its repetitions")
        self._program.append(instruction)
        return len(self._program) - 1

    def _compile(self, parts: list[Any], flags: int, depth: int) -> None:
        if depth > MAX_PATTERN_DEPTH:
            raise PatternError(f"it is nested more than {MAX_PATTERN_DEPTH} deep")
        for kind, argument in parts:
            self._compile_part(kind, argument, flags, depth)

    def _compile_part(self, kind: Any, argument: Any, flags: int, depth: int) -> None:
        if kind in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            self._emit(_Instruction("take", _character_test(kind, argument, flags)))
        elif kind is sre.BRANCH:
            self._compile_branches([list(branch) for branch in argument[1]], flags, depth)
        elif kind is sre.SUBPATTERN:
            group, added, removed, inner = argument
            inside = (flags | added) & ~removed
            if group is not None:
                self._emit(_Instruction("save", slot=2 * group))
            self._compile(list(inner), inside, depth + 1)
            if group is not None:
                self._emit(_Instruction("save", slot=2 * group + 1))
        elif kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            self._compile_repetition(argument, kind is sre.MAX_REPEAT, flags, depth)
        elif kind is sre.AT:
            if argument not in _CHECKS:
                raise PatternError("its anchors are not supported; accepted: ^ $ \\A \\Z \\b \\B")
            self._emit(_Instruction("check", slot=_CHECKS.index(argument)))
        else:
            raise PatternError(
                "back-references, look-around and possessive repetitions are not supported"
            )

    def _compile_branches(self, branches: list[list[Any]], flags: int, depth: int) -> None:
        ends = []
        for number, branch in enumerate(branches):
            is_last = number == len(branches) - 1
            split = -1 if is_last else self._emit(_Instruction("split"))
            self._compile(branch, flags, depth + 1)
            if not is_last:
                ends.append(self._emit(_Instruction("jump")))
                self._program[split].targets = (split + 1, len(self._program))
        for end in ends:
            self._program[end].targets = (len(self._program),)

    def _compile_repetition(self, argument: Any, greedy: bool, flags: int, depth: int) -> None:
        least, most, inner = argument
        parts = list(inner)
        for _ in range(least):
            self._compile(parts, flags, depth + 1)
        if most is sre.MAXREPEAT:
            split = self._emit(_Instruction("split"))
            self._compile(parts, flags, depth + 1)
            self._emit(_Instruction("jump", targets=(split,)))
            self._set_split(split, greedy)
            return
        splits = []
        for _ in range(most - least):
            splits.append(self._emit(_Instruction("split")))
            self._compile(parts, flags, depth + 1)
        for split in splits:
            self._set_split(split, greedy)

    def _set_split(self, split: int, greedy: bool) -> None:
        """Continue inside a repetition or after it; greedy ones prefer the inside."""
        targets = (split + 1, len(self._program))
        self._program[split].targets = targets if greedy else targets[::-1]


_CHECKS = (
    sre.AT_BEGINNING,
    sre.AT_BEGINNING_STRING,
    sre.AT_END,
    sre.AT_END_STRING,
    sre.AT_BOUNDARY,
    sre.AT_NON_BOUNDARY,
)


def _is_at(check: int, position: int, text: str) -> bool:
    """Whether a position is the beginning, the end, or a boundary of a word."""
    if check < 2:
        return position == 0
    if check == 2:
        return position == len(text) or (position == len(text) - 1 and text[position] == "\n")
    if check == 3:
        return position == len(text)
    before = position > 0 and _is_word(text[position - 1])
    after = position < len(text) and _is_word(text[position])
    return (before != after) == (check == 4)


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _character_test(kind: Any, argument: Any, flags: int) -> Test:
    """The test of one character: a pattern of Python for one character is linear."""
    pattern = sre_parser.SubPattern(sre_parser.State(), [(kind, argument)])
    pattern.state.flags = flags
    compiled = _compile_character(pattern, flags)
    return lambda letter: compiled.fullmatch(letter) is not None


def _compile_character(pattern: Any, flags: int) -> re.Pattern[str]:
    import re._compiler as sre_compiler  # type: ignore[import-not-found]

    pattern.state.str = ""
    return sre_compiler.compile(pattern, flags)
