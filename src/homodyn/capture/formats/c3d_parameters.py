"""The parameter section of a C3D file: named values in named groups."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from homodyn.capture.formats.c3d_numbers import Processor, floats, integers
from homodyn.errors import FormatError

BLOCK_BYTES = 512
"""Size of a block (bytes), the unit of positions in C3D files."""

ParameterValue = np.ndarray | tuple[str, ...]
"""Numbers in the order of the file (first index fastest), or texts."""

_ELEMENT_BYTES = {-1: 1, 1: 1, 2: 2, 4: 4}
"""Bytes per element by type code: text, byte, integer, real."""


@dataclass(frozen=True, eq=False)
class C3dParameters:
    """All parameters of a file by group and name, both in upper case."""

    groups: Mapping[str, Mapping[str, ParameterValue]] = field(default_factory=dict)

    def get(self, group: str, name: str) -> ParameterValue | None:
        """The value of a parameter; None if it is absent."""
        return self.groups.get(group, {}).get(name)

    def numbers(self, group: str, name: str) -> np.ndarray:
        """The numbers of a parameter, in the shape of the file; empty if it is absent."""
        value = self.get(group, name)
        if value is None or isinstance(value, tuple):
            return np.zeros(0)
        return value

    def number(self, group: str, name: str) -> float | None:
        """The first number of a parameter."""
        values = self.numbers(group, name).ravel(order="F")
        return float(values[0]) if values.size and np.isfinite(values[0]) else None

    def count(self, group: str, name: str) -> int | None:
        """The first number of a parameter as an unsigned count."""
        number = self.number(group, name)
        if number is None:
            return None
        return int(number) + 65536 if -32768 <= number < 0 else int(number)

    def texts(self, group: str, name: str) -> tuple[str, ...]:
        """The texts of a parameter and of its continuations: LABELS, LABELS2, LABELS3, ..."""
        found: list[str] = []
        number = 1
        while True:
            value = self.get(group, name if number == 1 else f"{name}{number}")
            if not isinstance(value, tuple):
                return tuple(found)
            found.extend(value)
            number += 1

    def text(self, group: str, name: str) -> str:
        """The first text of a parameter; empty if it is absent."""
        return next(iter(self.texts(group, name)), "")


def read_parameters(content: bytes, processor: Processor, path: str) -> C3dParameters:
    """All groups and parameters of a section, which begins with a preamble of four bytes."""
    names: dict[int, str] = {}
    found: dict[int, dict[str, ParameterValue]] = {}
    position = 4
    while position + 2 <= len(content):
        length = abs(int.from_bytes(content[position : position + 1], signed=True))
        number = int.from_bytes(content[position + 1 : position + 2], signed=True)
        if length == 0 or number == 0:
            break
        start = position + 2 + length
        if start + 2 > len(content):
            raise _damage_error(path, position)
        name = bytes(content[position + 2 : start]).decode("latin-1").strip().upper()
        (step,) = struct.unpack_from(f"{processor.order}H", content, start)
        if number < 0:
            names[-number] = name
        else:
            found.setdefault(number, {})[name] = _value(content, start + 2, processor, path)
        if step == 0:
            break
        if step < 2 or start + step > len(content):
            raise _damage_error(path, position)
        position = start + step
    groups: dict[str, dict[str, ParameterValue]] = {name: {} for name in names.values()}
    for number, values in found.items():
        groups.setdefault(names.get(number, f"GROUP{number}"), {}).update(values)
    return C3dParameters(groups)


def _value(content: bytes, position: int, processor: Processor, path: str) -> ParameterValue:
    if position + 2 > len(content):
        raise _damage_error(path, position)
    kind = int.from_bytes(content[position : position + 1], signed=True)
    rank = content[position + 1]
    shape = tuple(content[position + 2 : position + 2 + rank])
    if kind not in _ELEMENT_BYTES or rank > 7 or len(shape) < rank:
        raise _damage_error(path, position)
    start = position + 2 + rank
    # Python's integers do not overflow: seven dimensions of 255 would in 32 bits.
    elements = 1
    for size in shape:
        elements *= size
    data = content[start : start + elements * _ELEMENT_BYTES[kind]]
    if len(data) < elements * _ELEMENT_BYTES[kind]:
        raise _damage_error(path, position)
    if kind == -1:
        return _split_texts(bytes(data), shape)
    if kind == 1:
        numbers = np.frombuffer(data, np.uint8).astype(float)
    elif kind == 2:
        numbers = integers(data, processor).astype(float)
    else:
        numbers = floats(data, processor).astype(float)
    return numbers.reshape(shape or (1,), order="F")


def _split_texts(data: bytes, shape: tuple[int, ...]) -> tuple[str, ...]:
    width = shape[0] if len(shape) > 1 else len(data)
    if not width:
        return ("",) * int(np.prod(shape[1:], dtype=int)) if len(shape) > 1 else ()
    return tuple(as_text(data[first : first + width]) for first in range(0, len(data), width))


def as_text(data: bytes) -> str:
    """Text without padding, in UTF-8, or in Latin-1 as in old files."""
    content = data.split(b"\x00")[0]
    try:
        return content.decode("utf-8").strip()
    except UnicodeDecodeError:
        return content.decode("latin-1").strip()


def _damage_error(path: str, position: int) -> FormatError:
    return FormatError(
        "the parameter section is damaged: a record extends beyond its end or has an unknown type; "
        "export the recording again",
        path,
        f"byte {position} of the section",
    )


def parameter_bytes(groups: Mapping[str, Mapping[str, ParameterValue | Sequence[str]]]) -> bytes:
    """The bytes of a parameter section in Intel byte order, preamble and padding included.

    Integer arrays become 16-bit integers, other arrays reals, sequences of texts one array of
    characters.

    Raises:
        FormatError: The texts are too long for C3D.
    """
    records = bytearray()
    for number, (group, values) in enumerate(groups.items(), start=1):
        records += _record(group, -number, b"")
        for name, value in values.items():
            records += _record(name, number, _encode_value(value))
    records += b"\x00\x00"
    blocks = -(-(len(records) + 4) // BLOCK_BYTES)
    if blocks > 255:
        raise FormatError(
            f"labels and descriptions have {len(records)} bytes; C3D stores up to "
            f"{255 * BLOCK_BYTES}; shorten them or write fewer channels"
        )
    preamble = bytes([1, 0x50, blocks, Processor.INTEL])
    return (preamble + records).ljust(blocks * BLOCK_BYTES, b"\x00")


def _record(name: str, number: int, body: bytes) -> bytes:
    label = name.encode("ascii", "replace")[:127]
    # The step counts from itself: two bytes of its own, the body, the length of the description.
    step = struct.pack("<H", 2 + len(body) + 1)
    return bytes([len(label)]) + struct.pack("<b", number) + label + step + body + b"\x00"


def _encode_value(value: ParameterValue | Sequence[str]) -> bytes:
    if not isinstance(value, np.ndarray):
        texts = [text.encode("utf-8") for text in value]
        if longest := next((text for text in texts if len(text) > 255), None):
            raise FormatError(
                f"the text {longest[:40].decode('utf-8', 'replace')!r}... has {len(longest)} "
                "bytes; C3D stores up to 255; shorten it"
            )
        width = max([1, *map(len, texts)])
        shape = (width, len(texts))
        data = b"".join(text.ljust(width) for text in texts)
        return struct.pack("<bB", -1, 2) + bytes(shape) + data
    kind = "<i2" if value.dtype.kind in "iu" else "<f4"
    shape = () if value.shape == (1,) else value.shape
    code = 2 if kind == "<i2" else 4
    numbers = value.astype(np.int64) if code == 2 else value
    if code == 2:
        numbers = np.where(numbers > 32767, numbers - 65536, numbers)
    return (
        struct.pack("<bB", code, len(shape))
        + bytes(shape)
        + numbers.astype(kind).tobytes(order="F")
    )
