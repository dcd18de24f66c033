"""Linear patterns accept what those of Python accept, and never take long."""

import random
import re
import time

import pytest

from homodyn import network
from homodyn.errors import MAX_MESSAGE_BYTES, NetworkError
from homodyn.network.pattern_matching import LinearPattern, PatternError

ATOMS = [
    "a",
    "b",
    "c",
    ".",
    "[ab]",
    "[^a]",
    r"\d",
    r"\w",
    "^",
    "$",
    r"\b",
    r"\B",
    "",
    "1",
    "(?i:A)",
]
REPETITIONS = ["*", "+", "?", "*?", "+?", "??", "{1,3}", "{2}", "{0,2}?"]


def random_pattern(rng: random.Random, depth: int = 0) -> str:
    kind = rng.random()
    if depth > 3 or kind < 0.35:
        return rng.choice(ATOMS)
    inner = random_pattern(rng, depth + 1)
    if kind < 0.5:
        return inner + random_pattern(rng, depth + 1)
    if kind < 0.65:
        return f"({inner}|{random_pattern(rng, depth + 1)})"
    return f"({inner}){rng.choice(REPETITIONS)}"


def test_they_accept_the_same_names_as_python():
    rng = random.Random(0)
    compared = groups = 0
    for _ in range(1500):
        text = random_pattern(rng)
        expected, pattern = re.compile(text), LinearPattern(text)
        for _ in range(4):
            name = "".join(rng.choice("abAc1 ") for _ in range(rng.randint(1, 6)))
            match, found = expected.fullmatch(name), pattern.fullmatch(name)
            assert (match is None) == (found is None), (text, name)
            compared += 1
            if match is not None and "*" not in text and "?" not in text:
                groups += 1
                if not re.search(r"[(|]([|)]|\^|\$|\\b)", text):
                    assert (match[0], *match.groups()) == found, (text, name)
    assert compared == 6000
    assert groups > 100


@pytest.mark.parametrize(
    ("pattern", "name", "groups"),
    [
        (r"n(\d+)", "n12", ("n12", "12")),
        (r"(?:(a)|(b))c", "bc", ("bc", None, "b")),
        (r"(.*?)_(.*)", "a_b_c", ("a_b_c", "a", "b_c")),
        (r"(.*)_(.*)", "a_b_c", ("a_b_c", "a_b", "c")),
        (r"[^\W\d]\w*", "é1", ("é1",)),
        ("a", "ab", None),
    ],
)
def test_groups(pattern, name, groups):
    assert LinearPattern(pattern).fullmatch(name) == groups


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|a)*b", "(a|aa)+b", "(a*)*b", "(.*a){20}b"])
def test_patterns_that_backtrack_for_ever_elsewhere(pattern):
    compiled = LinearPattern(pattern)
    start = time.process_time()
    assert compiled.fullmatch("a" * 2000) is None
    assert time.process_time() - start < 5.0


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        r"(a)\1",
        "(?=a)a",
        "(?<!a)a",
        "a*+",
        "x" * 2000,
        "((a{99}){99}){99}",
        "(" * 300,
        "[b-a]",
    ],
)
def test_what_is_no_linear_pattern_is_refused(pattern):
    with pytest.raises(PatternError):
        LinearPattern(pattern)


def doubling(lines: int) -> str:
    text = "".join(f'defines {{ m{k + 1} = "@m{k}@m{k}" }}\n' for k in range(lines))
    return f'defines {{ m0 = "abcdefgh" }}\n{text}node "@m{lines}" {{ }}\n'


def test_macros_that_double_are_refused():
    assert network.parse(doubling(3)) is not None
    with pytest.raises(NetworkError, match="grows to more than") as raised:
        network.parse(doubling(60))
    assert len(str(raised.value)) <= MAX_MESSAGE_BYTES
