"""Numbers of C3D files: known bytes of each processor, and round trips."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homodyn.capture.formats.c3d_numbers import Processor, counts, float_bytes, floats, integers

# VAX F-floating: sign, exponent with an excess of 128, fraction of 0.1...; halves in this order.
DEC_BYTES = {1.0: "80400000", -1.0: "80c00000", 0.5: "00400000", 10.0: "20420000", 0.0: "00000000"}


@pytest.mark.parametrize(("value", "content"), DEC_BYTES.items())
def test_numbers_of_dec_have_the_bytes_of_its_manual(value, content):
    assert floats(bytes.fromhex(content), Processor.DEC).tolist() == [value]
    assert float_bytes(np.array([value]), Processor.DEC).hex() == content


def test_an_exponent_of_zero_means_zero_on_dec_whatever_the_fraction():
    assert floats(bytes.fromhex("7f00ffff"), Processor.DEC).tolist() == [0.0]


@pytest.mark.parametrize(("processor", "order"), [(Processor.INTEL, "<"), (Processor.MIPS, ">")])
def test_other_processors_differ_in_the_byte_order(processor, order):
    content = struct.pack(f"{order}3f", 1.5, -2e10, 3e-20)
    np.testing.assert_array_equal(floats(content, processor), np.float32([1.5, -2e10, 3e-20]))
    assert float_bytes(floats(content, processor), processor) == content


@pytest.mark.parametrize("processor", Processor)
def test_integers_have_signs_and_counts_have_none(processor):
    order = ">" if processor is Processor.MIPS else "<"
    content = struct.pack(f"{order}3H", 1, 0x7FFF, 0xFFFE)
    assert integers(content, processor).tolist() == [1, 32767, -2]
    assert counts(content, processor).tolist() == [1, 32767, 65534]


@given(st.sampled_from(list(Processor)), st.floats(2**-100, 2**100, width=32), st.booleans())
def test_numbers_survive_the_way_through_bytes(processor, value, negative):
    value = -value if negative else value
    assert floats(float_bytes(np.array([value]), processor), processor).tolist() == [value]
