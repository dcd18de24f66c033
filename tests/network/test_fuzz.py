"""Ten thousand broken texts: each gives a network or an error with a position, soon."""

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


def tried(text):
    """Whether the text is a network; anything but an error with a position fails."""
    begin = time.process_time()
    refusal = None
    try:
        parse(text, folder=FOLDER).prepare()
    except NetworkError as error:
        refusal = error
    assert refusal is None or (refusal.line >= 1 and refusal.column >= 1), (text, refusal)
    assert time.process_time() - begin < 10
    return refusal is None


@pytest.fixture(autouse=True)
def _little_memory():
    """However broken the texts are, they leave the process as small as it was, nearly."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown / (1024 if sys.platform == "darwin" else 1) < 300_000  # kB


def test_random_bytes():
    rng = random.Random(1)
    results = [tried(rng.randbytes(rng.randrange(1, 80)).decode("latin-1")) for _ in range(4000)]
    assert not all(results)


def test_truncated_listings():
    rng = random.Random(2)
    results = []
    for _ in range(2500):
        text = rng.choice(TEXTS)
        results.append(tried(text[: rng.randrange(len(text))]))
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
        results.append(tried(text))
    assert any(results)
    assert not all(results)


def test_deep_nesting_is_refused():
    assert not tried("a = " + '"' + "(" * 1500 + "1" + ")" * 1500 + '"')
    assert not tried("a = " + '"' + "-" * 3000 + '1"')
    assert not tried('node "a" {' * 500 + "}" * 500)


def test_a_long_sum_is_no_deep_nesting():
    assert tried('a = "' + "1 + " * 1500 + '1"')
