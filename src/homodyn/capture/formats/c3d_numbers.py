"""Numbers of C3D files in the byte orders of three processors: Intel, DEC and MIPS."""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Processor(IntEnum):
    """The processor type in the fourth byte of the parameter section."""

    INTEL = 84
    DEC = 85
    MIPS = 86

    @property
    def order(self) -> str:
        """Byte order of integers: that of DEC is the same as that of Intel."""
        return ">" if self is Processor.MIPS else "<"


def integers(content: bytes | memoryview, processor: Processor) -> np.ndarray:
    """Signed 16-bit integers."""
    return np.frombuffer(content, f"{processor.order}i2").astype(np.int16, copy=False)


def counts(content: bytes | memoryview, processor: Processor) -> np.ndarray:
    """Unsigned 16-bit integers: the counts of C3D."""
    return np.frombuffer(content, f"{processor.order}u2").astype(np.uint16, copy=False)


def floats(content: bytes | memoryview, processor: Processor) -> np.ndarray:
    """32-bit floating-point numbers.

    A DEC number is an IEEE number with its two 16-bit halves exchanged and an exponent larger by
    two; its exponent 0 means zero.
    """
    if processor is not Processor.DEC:
        return np.frombuffer(content, f"{processor.order}f4").astype(np.float32, copy=False)
    halves = np.frombuffer(content, "<u2").reshape(-1, 2)
    bits = halves[:, 1].astype(np.uint32) | (halves[:, 0].astype(np.uint32) << 16)
    values = bits.view(np.float32) * np.float32(0.25)
    values[bits & 0x7F800000 == 0] = 0.0
    return values


def float_bytes(values: np.ndarray, processor: Processor) -> bytes:
    """The bytes of 32-bit floating-point numbers: the inverse of `floats`."""
    numbers = np.asarray(values, dtype=np.float32)
    if processor is not Processor.DEC:
        return numbers.astype(f"{processor.order}f4").tobytes()
    bits = (numbers.ravel() * np.float32(4.0)).view(np.uint32)
    halves = np.stack([bits >> 16, bits & 0xFFFF], axis=-1).astype("<u2")
    return halves.tobytes()
