"""Mutations of valid files that leave most of them valid, so that they reach deep into readers."""

import random
import re
import struct

NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
WORD = re.compile(rb"[A-Za-z_][A-Za-z_0-9]*")
ELEMENT = re.compile(rb"<([A-Za-z_]\w*)[^<>]*?(?:/>|>[^<]*</\1>)")
STRUCTURE = re.compile(rb"[\[\](){}<>\"'=,;:/|]")

NUMBERS = (
    *(
        b"0 -0.0 1 -1 2 255 256 65535 65536 -32768 2147483647 2147483648 1e5 1e38 1e-38 1e300 "
        b"1e-320 1e999 -1e999 nan NaN inf -inf Infinity 1_000 0x10 1e 1,5 --1 1..2 true "
        b"99999999999999999999 0.1.2 1e5000"
    ).split(),
    b"",
    b"9" * 5000,
    "\u0663".encode(),
    b"1 2",
    b'"1"',
)
WORDS = (
    b"",
    b"x" * 3000,
    b"../../etc/passwd",
    b"/dev/zero",
    b"__class__",
    b"<img src=x onerror=alert(1)>",
    "\u202eabc\u0301\U0001f9cd".encode(),
    b"\xff\xfe",
    b"\x00",
    b"nan",
    b"world",
    b"ground",
    b"Inf",
    b"%s%n{0}",
    b"&amp;&lt;",
    b"\\",
    b"\r",
)
REALS = (0.0, -1.0, 1e38, -1e-38, float("inf"), float("nan"), 1e9, 0.5)
VALUES = (
    *b"true false 0 1 -1 2.5 1e9 nan inf [] [1,2] [[1,2],[3]] {} {a=1} {1} nil 1979-05-27".split(),
    b'""',
    b'"x"',
    b'"1"',
    b"'a'",
    b'"\\u0000"',
    b"[1, 2, 3]",
    b'["a", 1, true]',
    b"[nan, 0, 0]",
)
VALUE = re.compile(rb"(?<==)[ ]*[^\n#=,]+")
NESTS = ((b"[", b"]"), (b"(", b")"), (b"{", b"}"), (b"<a>", b"</a>"), (b"-", b""), (b"{a=", b"}"))
MAX_GROWTH = 3_000_000
"""Bytes above which mutated files do not grow further."""


def cut(data: bytes, source: random.Random, seeds: tuple[bytes, ...]) -> bytes:
    """The beginning of the file; mostly a long one, so that the cut is in the data."""
    return data[: int(len(data) * (1.0 - source.random() ** 3))]


def cut_last_row(data: bytes, source: random.Random, seeds: tuple[bytes, ...]) -> bytes:
    """The file without some of its last bytes."""
    return data[: -source.randint(1, 40)]


def flip_bits(data: bytes, source: random.Random, seeds: tuple[bytes, ...]) -> bytes:
    changed = bytearray(data)
    for _ in range(source.choice((1, 1, 2, 8))):
        if changed:
            changed[source.randrange(len(changed))] ^= 1 << source.randrange(8)
    return bytes(changed)


def set_bytes(data: bytes, source: random.Random, seeds: tuple[bytes, ...]) -> bytes:
    """Write an extreme integer or real of either byte order, mostly near the beginning."""
    order = source.choice("<>")
    value = source.choice(
        (
            struct.pack("B", source.choice((0, 1, 127, 128, 255))),
            struct.pack(order + "H", source.choice((0, 1, 2, 255, 32767, 32768, 65535))),
            struct.pack(order + "i", source.choice((0, -1, 2**31 - 1, -(2**31), 10**6))),
            struct.pack(order + "f", source.choice(REALS)),
            struct.pack(order + "d", source.choice(REALS)),
        )
    )
    reach = len(data) if source.random() < 0.3 else min(len(data), 2048)
    place = source.randrange(reach + 1)
    return data[:place] + value + data[place + len(value) :]


def move_chunk(data: bytes, source: random.Random, seeds: tuple[bytes, ...]) -> bytes:
    """Delete, repeat, exchange or insert a piece; the piece may be of another valid file."""
    start = source.randrange(len(data) + 1)
    end = min(len(data), start + source.choice((1, 2, 4, 16, 64, 512, 4096)))
    place = source.randrange(len(data) + 1)
    kind = source.randrange(4)
    if kind == 0:
        return data[:start] + data[end:]
    if kind == 1:
        return data[:place] + data[start:end] * source.choice((1, 2, 50)) + data[place:]
    other = source.choice(seeds)
    first = source.randrange(len(other) + 1)
    piece = other[first : first + (end - start)]
    if kind == 2:
        return data[:start] + piece + data[end:]
    return data[:place] + piece + data[place:]


def change_number(data: bytes, source: random.Random, seeds: tuple[bytes, ...]) -> bytes:
    return _replace(data, NUMBER, source, lambda _: source.choice(NUMBERS))


def change_word(data: bytes, source: random.Random, seeds: tuple[bytes, ...]) -> bytes:
    """Exchange a word for a hostile one or for another word of a valid file."""

    def other(word: bytes) -> bytes:
        if source.random() < 0.4:
            return source.choice(WORDS)
        text = source.choice(seeds)
        start = source.randrange(len(text) + 1)
        found = WORD.search(text, start) or WORD.search(text)
        return found.group(0) if found else word

    return _replace(data, WORD, source, other)


def change_value(data: bytes, source: random.Random, seeds: tuple[bytes, ...]) -> bytes:
    """Give a key of TOML or Lua a value of another type, or that of another key."""

    def other(value: bytes) -> bytes:
        found = VALUE.search(data, source.randrange(len(data) + 1))
        if found and source.random() < 0.3:
            return found.group(0)
        return b" " + source.choice(VALUES)

    return _replace(data, VALUE, source, other)


def change_punctuation(data: bytes, source: random.Random, seeds: tuple[bytes, ...]) -> bytes:
    marks = b"[](){}<>\"'=,;:/|\n\t "
    return _replace(data, STRUCTURE, source, lambda _: bytes([source.choice(marks)]))


def change_lines(data: bytes, source: random.Random, seeds: tuple[bytes, ...]) -> bytes:
    """Delete, repeat, exchange, join or cut lines."""
    lines = data.split(b"\n")
    k, other = source.randrange(len(lines)), source.randrange(len(lines))
    kind = source.randrange(6)
    if kind == 0:
        del lines[k : k + source.choice((1, 1, 3))]
    elif kind == 1:
        lines[other:other] = [lines[k]] * source.choice((1, 2, 100))
    elif kind == 2:
        lines[k], lines[other] = lines[other], lines[k]
    elif kind == 3:
        lines[k] = lines[k][: source.randrange(len(lines[k]) + 1)]
    elif kind == 4:
        lines[k] = lines[k] + lines[other]
    else:
        foreign = source.choice(seeds).split(b"\n")
        lines[k] = source.choice(foreign)
    return b"\n".join(lines)


def change_cells(data: bytes, source: random.Random, seeds: tuple[bytes, ...]) -> bytes:
    """Delete, repeat or empty a cell of a table."""
    separator = b"\t" if data.count(b"\t") > data.count(b",") else b","
    lines = data.split(b"\n")
    k = source.randrange(len(lines))
    cells = lines[k].split(separator)
    j = source.randrange(len(cells))
    kind = source.randrange(3)
    if kind == 0:
        del cells[j]
    elif kind == 1:
        cells.insert(j, cells[source.randrange(len(cells))])
    else:
        cells[j] = b""
    lines[k] = separator.join(cells)
    return b"\n".join(lines)


def change_elements(data: bytes, source: random.Random, seeds: tuple[bytes, ...]) -> bytes:
    """Delete, repeat or move an element of XML, or take it from another valid file."""
    found = list(ELEMENT.finditer(data))
    if not found:
        return change_lines(data, source, seeds)
    one, two = source.choice(found), source.choice(found)
    kind = source.randrange(4)
    if kind == 0:
        return data[: one.start()] + data[one.end() :]
    if kind == 1:
        return data[: two.start()] + one.group(0) + data[two.start() :]
    if kind == 2:
        return data[: one.start()] + two.group(0) + data[one.end() :]
    foreign = list(ELEMENT.finditer(source.choice(seeds)))
    piece = source.choice(foreign).group(0) if foreign else b""
    return data[: one.start()] + piece + data[one.start() :]


def nest(data: bytes, source: random.Random, seeds: tuple[bytes, ...]) -> bytes:
    """Wrap a number or a word into many brackets."""
    before, after = source.choice(NESTS)
    depth = source.choice((3, 50, 5000))
    return _replace(
        data,
        source.choice((NUMBER, WORD)),
        source,
        lambda text: before * depth + text + after * depth,
    )


def encode(data: bytes, source: random.Random, seeds: tuple[bytes, ...]) -> bytes:
    """Other line ends, byte order marks, encodings and control characters."""
    kind = source.randrange(7)
    if kind == 0:
        return data.replace(b"\n", b"\r\n")
    if kind == 1:
        return data.replace(b"\n", b"\r")
    if kind == 2:
        return b"\xef\xbb\xbf" + data
    if kind == 3:
        return data.decode("utf-8", "replace").encode("utf-16")
    if kind == 4:
        return data.replace(b".", b",")
    if kind == 5:
        return data.replace(b"\t", b"  ")
    place = source.randrange(len(data) + 1)
    return data[:place] + source.choice((b"\x00", b"\x1a", b"\x0c", b"\xe9")) + data[place:]


def _replace(data, pattern, source, choose):
    """Exchange one match, or all equal ones, of a pattern after a random place."""
    found = pattern.search(data, source.randrange(len(data) + 1)) or pattern.search(data)
    if found is None:
        return data
    new = choose(found.group(0))
    if found.group(0) and source.random() < 0.15:
        return data.replace(found.group(0), new)
    return data[: found.start()] + new + data[found.end() :]


BINARY = (cut, cut_last_row, flip_bits, set_bytes, set_bytes, set_bytes, move_chunk)
TEXT = (
    cut,
    cut_last_row,
    flip_bits,
    move_chunk,
    change_number,
    change_number,
    change_number,
    change_word,
    change_word,
    change_punctuation,
    change_lines,
    nest,
    encode,
)
TOML = (*TEXT, change_number, change_lines, *(change_value,) * 8)
TABLE = (*TEXT, change_cells, change_cells)
XML = (*TEXT, change_elements, change_elements, change_elements)


def mutate(seeds: tuple[bytes, ...], mutators, source: random.Random) -> tuple[bytes, bytes, tuple]:
    """A mutated file.

    Args:
        seeds: Valid files of one format.
        mutators: What to choose from.
        source: Random numbers.

    Returns:
        The file, the valid file it comes from, and the mutators.
    """
    seed = source.choice(seeds)
    chosen = tuple(source.choice(mutators) for _ in range(source.choice((1, 1, 1, 2, 2, 4))))
    data = seed
    for mutator in chosen:
        if len(data) < MAX_GROWTH:
            data = mutator(data, source, seeds)
    return data[:MAX_GROWTH], seed, chosen
