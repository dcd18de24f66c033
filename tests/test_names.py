"""Names follow the rules of docs/glossary.md: one meaning per name, words of the field."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import homodyn

PACKAGE = Path(homodyn.__file__).parent

IRREGULAR = {
    "bent",
    "borne",
    "bound",
    "broken",
    "brought",
    "built",
    "caught",
    "cast",
    "chosen",
    "cut",
    "done",
    "drawn",
    "driven",
    "fallen",
    "fed",
    "felt",
    "found",
    "given",
    "gone",
    "grown",
    "heard",
    "held",
    "hidden",
    "hung",
    "kept",
    "known",
    "laid",
    "led",
    "left",
    "lent",
    "lit",
    "lost",
    "made",
    "meant",
    "met",
    "paid",
    "put",
    "risen",
    "said",
    "seen",
    "sent",
    "shaken",
    "shown",
    "shrunk",
    "shut",
    "slid",
    "spent",
    "split",
    "spread",
    "spun",
    "stood",
    "struck",
    "stuck",
    "swept",
    "swung",
    "taken",
    "taught",
    "thought",
    "thrown",
    "told",
    "torn",
    "understood",
    "won",
    "worn",
    "wound",
    "written",
}
"""Past participles that do not end in -ed."""
ADVERBS = {
    "afresh",
    "after",
    "again",
    "alike",
    "alone",
    "anew",
    "anyway",
    "apart",
    "away",
    "before",
    "beside",
    "between",
    "beyond",
    "forth",
    "inside",
    "later",
    "nearby",
    "outside",
    "together",
}
VAGUE = {
    "bad",
    "best",
    "big",
    "close",
    "coarse",
    "enough",
    "far",
    "few",
    "fewest",
    "fine",
    "good",
    "high",
    "large",
    "least",
    "little",
    "long",
    "loose",
    "low",
    "more",
    "most",
    "much",
    "near",
    "odd",
    "often",
    "patience",
    "plain",
    "quick",
    "sharp",
    "short",
    "slow",
    "small",
    "soon",
    "steep",
    "still",
    "tight",
    "tiny",
    "usual",
    "wide",
    "worst",
}
"""Words that say nothing about what a constant is of."""
NOT_PARTICIPLES = {"seed", "speed", "need", "feed", "embed", "shed"}
ESTABLISHED = {"fixed"}
"""Participles that are the name of a thing in the field: the fixed joint of URDF files."""


def is_participle(word: str) -> bool:
    """Whether a single word is a past participle."""
    if word in NOT_PARTICIPLES | ESTABLISHED:
        return False
    return word in IRREGULAR or word.endswith("ed")


def is_property(function: ast.FunctionDef) -> bool:
    return any(
        (isinstance(d, ast.Name) and d.id in ("property", "cached_property"))
        or (isinstance(d, ast.Attribute) and d.attr == "setter")
        for d in function.decorator_list
    )


def returns_bool(function: ast.FunctionDef) -> bool:
    return isinstance(function.returns, ast.Name) and function.returns.id == "bool"


def functions(tree: ast.Module) -> Iterator[tuple[ast.ClassDef | None, ast.FunctionDef]]:
    """Functions and methods that other code can call, with their class."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield None, node
        elif isinstance(node, ast.ClassDef):
            yield from ((node, sub) for sub in node.body if isinstance(sub, ast.FunctionDef))


def bare_words(package: Path) -> list[str]:
    """Functions whose whole name is a participle or an adverb.

    Properties and tests that answer yes or no may be participles, as adjectives are:
    ``joint.locked``, ``result.converged``.
    """
    found = []
    for file in sorted(package.rglob("*.py")):
        for owner, function in functions(ast.parse(file.read_text(encoding="utf-8"))):
            word = function.name.strip("_")
            if "_" in word or function.name.startswith("__"):
                continue
            adjective = owner is not None and (is_property(function) or returns_bool(function))
            if word in ADVERBS or (is_participle(word) and not adjective):
                name = f"{owner.name}.{function.name}" if owner else function.name
                found.append(f"{file.relative_to(package)}:{function.lineno}: {name}")
    return found


def is_number(value: ast.expr | None) -> bool:
    """Whether an expression is a plain number, or an arithmetic expression of numbers."""
    if isinstance(value, ast.UnaryOp):
        return is_number(value.operand)
    if isinstance(value, ast.BinOp):
        return is_number(value.left) and is_number(value.right)
    return isinstance(value, ast.Constant) and type(value.value) in (int, float)


def constants_without_subject(package: Path) -> list[str]:
    """Numeric constants of one word, and constants named by a vague word or a participle."""
    found = []
    for file in sorted(package.rglob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            if isinstance(node, ast.AnnAssign):
                targets = [node.target]
            for target in targets:
                if not isinstance(target, ast.Name):
                    continue
                if not re.fullmatch(r"_?[A-Z][A-Z0-9]*", target.id):
                    continue
                word = target.id.strip("_").lower()
                if is_number(node.value) or word in VAGUE | ADVERBS or is_participle(word):
                    found.append(f"{file.relative_to(package)}:{node.lineno}: {target.id}")
    return found


def public_classes(package: Path) -> dict[str, list[str]]:
    """Places of the public classes, by name."""
    found = defaultdict(list)
    for file in sorted(package.rglob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(file.relative_to(package)))
    return found


def shared_names(package: Path) -> list[str]:
    """Class names that several modules define."""
    return [
        f"{name}: {', '.join(files)}"
        for name, files in public_classes(package).items()
        if len(files) > 1
    ]


def test_functions_are_verbs_or_quantities():
    assert bare_words(PACKAGE) == []


def test_constants_say_what_they_are_of():
    assert constants_without_subject(PACKAGE) == []


def test_one_name_has_one_meaning():
    assert shared_names(PACKAGE) == []


@pytest.mark.parametrize(
    "text",
    [
        "def moved(x): ...",
        "def _told(x): ...",
        "def anew(x): ...",
        "class A:\n    def settled(self): ...",
        "class A:\n    def held(self) -> int: ...",
    ],
)
def test_a_bare_participle_is_caught(tmp_path, text):
    (tmp_path / "module.py").write_text(text)
    assert len(bare_words(tmp_path)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "def move(x): ...",
        "def speed(x): ...",
        "def read_held_values(x): ...",
        "class A:\n    @property\n    def converged(self) -> bool: ...",
        "class A:\n    def __enter__(self): ...",
    ],
)
def test_verbs_quantities_and_adjectives_pass(tmp_path, text):
    (tmp_path / "module.py").write_text(text)
    assert bare_words(tmp_path) == []


@pytest.mark.parametrize(
    "text", ["MOST = 3", "FAR = 1.5", "_LEAST = 2 * 3.0", "LOADED = -20.0", "NEAR = ('a', 'b')"]
)
def test_a_constant_without_subject_is_caught(tmp_path, text):
    (tmp_path / "module.py").write_text(text)
    assert len(constants_without_subject(tmp_path)) == 1


@pytest.mark.parametrize(
    "text", ["MAX_GAP_FRAMES = 10", "WORLD = 'world'", "INTEGRATORS = {}", "x = 3"]
)
def test_a_constant_with_subject_passes(tmp_path, text):
    (tmp_path / "module.py").write_text(text)
    assert constants_without_subject(tmp_path) == []


def test_a_class_name_used_twice_is_caught(tmp_path):
    (tmp_path / "a.py").write_text("class Step: ...\nclass _Own: ...")
    (tmp_path / "b.py").write_text("class Step: ...\nclass _Own: ...")
    assert shared_names(tmp_path) == ["Step: a.py, b.py"]
