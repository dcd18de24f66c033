"""States in rows become vectors with one lane per state, and come back."""

import ctypes
from collections.abc import Callable

import numpy as np
import pytest

LANES = (1, 2, 4, 8)
NUMBERS = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 30, 64, 67, 3500)
CASES = [(lanes, count) for lanes in LANES for count in range(1, lanes + 1)]

DRIVER = """
#include "vector.h"
void load(const double *base, long stride, int count, double *out, int n)
{ v_load_states(base, stride, count, (vreal *)out, n); }
void store(double *base, long stride, int count, const double *in, int n)
{ v_store_states(base, stride, count, (const vreal *)in, n); }
"""

GUARD = -12345.0


def aligned(shape: tuple[int, ...]) -> np.ndarray:
    """An array on a 64-byte boundary, as vectors in a kernel's workspace are."""
    count = int(np.prod(shape))
    raw = np.full(count + 8, GUARD)
    offset = (-raw.ctypes.data // 8) % 8
    return raw[offset : offset + count].reshape(shape)


def unaligned(count: int) -> np.ndarray:
    """Numbers that start one double after a 64-byte boundary."""
    return aligned((count + 1,))[1:]


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)


@pytest.fixture(scope="module")
def libraries(compile_c: Callable[..., ctypes.CDLL]) -> dict[int, ctypes.CDLL]:
    loaded = {lanes: compile_c(DRIVER, f"-DLANES={lanes}") for lanes in LANES}
    for library in loaded.values():
        for function in (library.load, library.store):
            function.argtypes = [
                ctypes.c_void_p,
                ctypes.c_long,
                ctypes.c_int,
                ctypes.c_void_p,
                ctypes.c_int,
            ]
            function.restype = None
    return loaded


@pytest.mark.parametrize(("lanes", "count"), CASES)
@pytest.mark.parametrize("gap", [0, 1, 5])
def test_lane_k_holds_state_k_and_missing_lanes_repeat_the_last(lanes, count, gap, libraries):
    for n in NUMBERS:
        stride = n + gap
        states = unaligned(count * stride)
        states[:] = np.arange(count * stride)
        out = aligned((n + 1, lanes))
        libraries[lanes].load(pointer(states), stride, count, pointer(out), n)
        rows = states.reshape(count, stride)[:, :n]
        expected = rows[np.minimum(np.arange(lanes), count - 1)].T
        np.testing.assert_array_equal(out[:n], expected)
        assert (out[n] == GUARD).all(), f"wrote past {n} numbers"


@pytest.mark.parametrize(("lanes", "count"), CASES)
def test_an_input_of_stride_zero_is_shared_by_all_lanes(lanes, count, libraries):
    for n in NUMBERS:
        shared = unaligned(n)
        shared[:] = np.arange(n)
        out = aligned((n + 1, lanes))
        libraries[lanes].load(pointer(shared), 0, count, pointer(out), n)
        np.testing.assert_array_equal(out[:n], np.repeat(shared[:, None], lanes, axis=1))
        assert (out[n] == GUARD).all(), f"wrote past {n} numbers"


@pytest.mark.parametrize(("lanes", "count"), CASES)
@pytest.mark.parametrize("gap", [0, 1, 5])
def test_storing_writes_the_valid_lanes_and_nothing_else(lanes, count, gap, libraries):
    for n in NUMBERS:
        stride = n + gap
        vectors = aligned((n, lanes))
        vectors[:] = np.arange(n * lanes).reshape(n, lanes)
        memory = unaligned((lanes + 1) * stride)
        libraries[lanes].store(pointer(memory), stride, count, pointer(vectors), n)
        rows = memory.reshape(lanes + 1, stride)
        np.testing.assert_array_equal(rows[:count, :n], vectors.T[:count])
        assert (rows[count:] == GUARD).all(), "wrote a state that is not there"
        assert (rows[:, n:] == GUARD).all(), "wrote between the states"


@pytest.mark.parametrize("lanes", LANES)
def test_states_may_lie_backwards_in_memory(lanes, libraries):
    n, stride = 19, 23
    states = unaligned(lanes * stride)
    states[:] = np.arange(lanes * stride)
    out = aligned((n, lanes))
    last = ctypes.c_void_p(states.ctypes.data + 8 * (lanes - 1) * stride)
    libraries[lanes].load(last, -stride, lanes, pointer(out), n)
    np.testing.assert_array_equal(out, states.reshape(lanes, stride)[::-1, :n].T)
