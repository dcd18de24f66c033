"""The linear algebra of solvers on one thread.

The fronts of a movement's factors are small. On processors without other work a second thread makes
no difference (3.4 s for a squat of 39 degrees of freedom either way); on busy ones nothing has to
wait for it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import casadi as ca


@cache
def _blas() -> ctypes.CDLL | None:
    """The linear algebra that came with CasADi; None where it has none of its own."""
    for path in sorted(Path(ca.__file__).parent.glob("*openblas*")):
        try:
            found = ctypes.CDLL(str(path))
            found.openblas_get_num_threads()
        except (OSError, AttributeError):
            continue
        return found
    return None


@contextmanager
def one_thread() -> Iterator[None]:
    """Have the linear algebra of solvers use one thread for a while."""
    library = _blas()
    if library is None:
        yield
        return
    before = int(library.openblas_get_num_threads())
    library.openblas_set_num_threads(1)
    try:
        yield
    finally:
        library.openblas_set_num_threads(before)
