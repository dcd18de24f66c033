"""The benchmark harness, with a fake clock."""

import json

import pytest

from homodyn.bench import (
    BenchmarkReport,
    BenchmarkRow,
    benchmark,
    best_of,
    harness,
    interleave,
    missing,
    run,
)
from homodyn.errors import HomodynError


class FakeClock:
    """A clock that advances only when a fake function runs."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls: list[str] = []

    def __call__(self) -> float:
        return self.now

    def function(self, name: str, *durations: float):
        """A function that takes each duration once, then the last one."""
        left = list(durations)

        def work() -> None:
            self.calls.append(name)
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return work


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def registry(monkeypatch):
    """An empty registry instead of the real benchmarks."""
    empty: dict[str, harness.Benchmark] = {}
    monkeypatch.setattr(harness, "_registry", empty)
    monkeypatch.setattr(harness.pkgutil, "iter_modules", lambda *_: iter(()))
    return empty


def test_times_are_better_when_smaller():
    row = BenchmarkRow.from_times("rnea", 0.5, 2.0, unit="us", required=3)
    assert row == BenchmarkRow("rnea", 0.5, 2.0, "us", 4.0, 3)
    assert row.passes


def test_rates_are_better_when_bigger():
    row = BenchmarkRow.from_rates("rollouts", 100.0, 400.0, unit="1/s", required=1)
    assert row.ratio == 0.25
    assert row.passes is False


@pytest.mark.parametrize("compare", [BenchmarkRow.from_times, BenchmarkRow.from_rates])
def test_without_a_peer_there_is_no_ratio(compare):
    row = compare("rnea", 0.5, None, unit="us", required=3, note="pin is not installed")
    assert row.ratio is None
    assert row.passes is None


def test_a_row_without_requirement_neither_passes_nor_fails():
    assert BenchmarkRow.from_times("rnea", 1.0, 2.0, unit="s", required=None).passes is None


def test_best_of_returns_the_minimum(clock):
    work = clock.function("f", 1.0, 3.0, 0.75, 2.0)
    assert best_of(work, repeat=3, minimum_time=0.5, clock=clock) == 0.75


def test_a_fast_function_is_called_until_the_minimum_time_is_filled(clock):
    work = clock.function("f", 2.0**-10)
    assert best_of(work, repeat=1, minimum_time=0.5, clock=clock) == 2.0**-10
    assert len(clock.calls) >= 2 * 512


def test_a_function_too_fast_for_the_clock_is_still_timed():
    readings = iter([0.0, 0.0, 0.0, 1.0, 0.0, 1.0])
    assert best_of(lambda: None, repeat=1, minimum_time=0.5, clock=lambda: next(readings)) == 0.1


def test_interleave_alternates_and_reverses_every_other_round(clock):
    ours, peer = clock.function("ours", 1.0), clock.function("peer", 2.0)
    times = interleave(ours, peer, repeat=3, minimum_time=0.5, clock=clock)
    assert times == (1.0, 2.0)
    warm_up, measured = clock.calls[:2], clock.calls[2:]
    assert warm_up == ["ours", "peer"]
    assert measured == ["ours", "peer", "peer", "ours", "ours", "peer"]


def test_a_noisy_round_does_not_change_the_ratio(clock):
    ours = clock.function("ours", 1.0, 1.0, 9.0, 1.0)
    peer = clock.function("peer", 2.0, 2.0, 18.0, 2.0)
    assert interleave(ours, peer, repeat=3, minimum_time=0.5, clock=clock) == (1.0, 2.0)


def test_timing_leaves_garbage_collection_as_it_was():
    assert harness.gc.isenabled()
    with pytest.raises(ZeroDivisionError):
        best_of(lambda: 1 / 0)
    assert harness.gc.isenabled()


def test_no_repetition_is_refused():
    with pytest.raises(HomodynError, match="at least 1, not 0"):
        best_of(lambda: None, repeat=0)


def test_a_missing_peer_is_named():
    assert missing("numpy") == ""
    assert missing("no-such-peer") == "no-such-peer is not installed"


def test_benchmarks_run_by_name_and_receive_quick(registry):
    @benchmark("second")
    def second(quick):
        """What the second is.

        And more.
        """
        yield BenchmarkRow.from_times("b", 1.0, 2.0, unit="s", required=1, note=f"quick is {quick}")

    @benchmark("first")
    def first(quick):
        yield BenchmarkRow.from_times("a", 1.0, 2.0, unit="s", required=1)

    messages: list[str] = []
    everything = run(machine={}, progress=messages.append)
    assert [row.name for row in everything.rows] == ["a", "b"]
    assert messages == ["first", "first: a", "second", "second: b"]
    assert registry["second"].summary == "What the second is."
    assert registry["first"].summary == ""
    (only,) = run(["second"], machine={}, quick=True).rows
    assert only.note == "quick is True"


def test_two_benchmarks_of_one_name_are_refused(registry):
    benchmark("twice")(lambda quick: ())
    with pytest.raises(HomodynError, match="two benchmarks are named 'twice'"):
        benchmark("twice")(lambda quick: ())


def test_an_unknown_benchmark_is_refused_with_the_accepted_names(registry):
    benchmark("dynamics")(lambda quick: ())
    with pytest.raises(HomodynError, match="no benchmark 'x'; accepted: dynamics"):
        run(["x"], machine={})


def test_a_missing_package_ends_a_benchmark_with_a_row(registry):
    @benchmark("against")
    def against(quick):
        yield BenchmarkRow.from_times("alone", 1.0, None, unit="s", required=None)
        import no_such_peer  # noqa: F401

    alone, absent = run(machine={}).rows
    assert alone.name == "alone"
    assert absent == BenchmarkRow(
        "against", None, None, "", None, None, "no_such_peer is not installed"
    )


def test_a_missing_module_of_homodyn_is_an_error(registry):
    @benchmark("broken")
    def broken(quick):
        import homodyn.no_such_module  # noqa: F401

        yield

    with pytest.raises(ModuleNotFoundError):
        run(machine={})


def test_the_modules_of_the_folder_are_found():
    assert all(name == each.name for name, each in harness.benchmarks().items())


def test_json_is_one_object_with_machine_and_rows(report):
    read = json.loads(report.to_json())
    assert set(read) == {"machine", "rows"}
    assert read["machine"] == {"cpu": "abacus", "cores": 2}
    assert read["rows"][0] == {
        "name": "fast",
        "ours": 1.0,
        "peer": 2.0,
        "unit": "us",
        "ratio": 2.0,
        "required": 1.5,
        "note": "",
    }
    assert read["rows"][2]["peer"] is None
    assert read["rows"][2]["ratio"] is None


def test_a_report_is_written_completely_or_not_at_all(report, tmp_path):
    path = tmp_path / "report.json"
    path.write_text("before")
    report.write(path)
    assert json.loads(path.read_text()) == report.to_dict()
    broken = BenchmarkReport({"cpu": float("nan")}, ())
    with pytest.raises(ValueError, match="JSON"):
        broken.write(path)
    assert json.loads(path.read_text()) == report.to_dict()
    assert list(tmp_path.iterdir()) == [path]


def test_a_report_that_cannot_be_written_is_refused(report, tmp_path):
    with pytest.raises(HomodynError, match=r"gone.*cannot be written: No such file"):
        report.write(tmp_path / "gone" / "report.json")
