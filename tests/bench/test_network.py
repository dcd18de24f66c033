"""The benchmark of networks: its peers compute the same results."""

from homodyn.bench import network as bench


def test_rows_compare_with_interpreter_numpy_real_time_and_mujoco():
    runners = list(bench.runner_rows(10, 1, until=1.0))
    assert [row.required for row in runners] == [100, 100, 20, None]
    assert all(row.ratio > 1 for row in runners)
    (oscillators,) = bench.oscillator_rows(4, 0.2, 1)
    assert oscillators.ratio > 100
    chains = list(bench.chain_rows(3, 1, 0.05, 1))
    assert [bench.LANGUAGE in row.name for row in chains] == [True, False, True, True]
    assert [row.required for row in chains] == [1, 1, None, None]
