"""Linear algebra of the solvers on a single BLAS thread.

The fronts of the factorization are small. On an idle processor a second thread makes no difference
(3.4 s for a squat of 39 degrees of freedom either way); on a busy one nothing has to wait for it.
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
    """The BLAS library bundled with CasADi; None where there is none."""
    for path in sorted(Path(ca.__file__).parent.glob("*openblas*")):
        try:
            library = ctypes.CDLL(str(path))
            library.openblas_get_num_threads()
        except (OSError, AttributeError):
            continue
        return library
    return None


@contextmanager
def single_blas_thread() -> Iterator[None]:
    """Use one BLAS thread within the context."""
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
