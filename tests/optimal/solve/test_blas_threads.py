"""Solves use one BLAS thread and restore the number afterwards."""

import pytest

from homodyn.optimal.solve.blas_threads import _blas, single_blas_thread


def test_the_number_of_blas_threads_is_restored():
    library = _blas()
    if library is None:
        pytest.skip("CasADi brings no OpenBLAS here")
    before = library.openblas_get_num_threads()
    with single_blas_thread():
        assert library.openblas_get_num_threads() == 1
    assert library.openblas_get_num_threads() == before
