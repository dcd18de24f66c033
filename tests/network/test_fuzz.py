"""Ten thousand broken texts: each gives a network or an error with a position."""

import random
import resource
import sys
import time
from pathlib import Path

import pytest

from homodyn.errors import NetworkError
from homodyn.network import parse

FOLDER = Path(__file__).parents[2] / "examples" / "networks"
TEXTS = [path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.cdn"))]
PIECES = [
    *['"', "{", "}", "[", "]", "(", ")", "'", "=", "+=", "<=", "|", "@1", "@@", "$(", "/x(/", "\0"],
    *["state", "event", "node", "edge from", "to", "{1:99999999}", "ẏ", "∂[", "^", "9e999", "-"],
]


def is_network(text):
    """Whether a text is a network; otherwise the error must have a position."""
    begin = time.process_time()
    failure = None
    try:
        parse(text, folder=FOLDER).prepare()
    except NetworkError as error:
        failure = error
    assert failure is None or (failure.line >= 1 and failure.column >= 1), (text, failure)
    assert time.process_time() - begin < 10
    return failure is None


@pytest.fixture(autouse=True)
def _little_memory():
    """Broken texts must not increase the memory of the process much."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown / (1024 if sys.platform == "darwin" else 1) < 300_000  # kB


def test_random_bytes():
    rng = random.Random(1)
    results = [
        is_network(rng.randbytes(rng.randrange(1, 80)).decode("latin-1")) for _ in range(4000)
    ]
    assert not all(results)


def test_truncated_listings():
    rng = random.Random(2)
    results = []
    for _ in range(2500):
        text = rng.choice(TEXTS)
        results.append(is_network(text[: rng.randrange(len(text))]))
    assert any(results)
    assert not all(results)


def test_mutated_listings():
    rng = random.Random(3)
    results = []
    for _ in range(3500):
        text = rng.choice(TEXTS)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(text))
            match rng.randrange(3):
                case 0:
                    text = text[:at] + text[at + rng.randrange(1, 6) :]
                case 1:
                    text = text[:at] + rng.choice(PIECES) + text[at:]
                case 2:
                    end = at + rng.randrange(1, 30)
                    text = text[:at] + text[at:end] * 2 + text[end:]
        results.append(is_network(text))
    assert any(results)
    assert not all(results)


def test_deep_nesting_is_refused():
    assert not is_network("a = " + '"' + "(" * 1500 + "1" + ")" * 1500 + '"')
    assert not is_network("a = " + '"' + "-" * 3000 + '1"')
    assert not is_network('node "a" {' * 500 + "}" * 500)


def test_a_long_sum_does_not_count_as_nesting():
    assert is_network('a = "' + "1 + " * 1500 + '1"')
