import os
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from sqlalchemy import text

from homodyn.errors import SearchError
from homodyn.search import PSO, Study, best_solutions, run
from homodyn.search.studies.database import open_database
from homodyn.search.studies.summary import summarize
from support.search_objectives import camel, troubled
from support.search_objectives import camel_job as job


def test_the_best_are_the_best_of_all(tmp_path):
    study = run(job(), troubled, database=tmp_path / "a.db").study
    everything = [
        (value, generation, member)
        for piece in study.all_candidates(rows=7)
        for value, generation, member, status in zip(
            piece.results[:, 0], piece.generation, piece.member, piece.status, strict=True
        )
        if status == 0
    ]
    assert len(everything) < 80
    expected = sorted(everything)[:5]
    found = best_solutions(study, 5)
    assert [(s.objectives["f"], s.generation, s.member) for s in found] == expected
    assert best_solutions(study, 1)[0] == found[0]
    assert best_solutions(study, 80) == best_solutions(study, 100)
    assert [s.objectives["f"] for s in best_solutions(study, 80)] == sorted(
        v for v, *_ in everything
    )


def test_the_best_are_found_behind_a_penalty_and_in_half_a_generation(tmp_path):
    # With this penalty, failed candidates rank above most successful ones.
    study = run(job(penalty=-0.9), troubled, database=tmp_path / "a.db").study
    pieces = study.candidates(0, 8)
    good = np.sort(pieces.results[pieces.status == 0, 0])
    assert [s.objectives["f"] for s in best_solutions(study, 6)] == good[:6].tolist()
    calls = iter(range(100))

    def stops(parameters):
        if next(calls) == 14:
            raise KeyboardInterrupt
        return -float(next(calls))

    half = run(job(name="half"), stops, database=tmp_path / "half.db")
    assert half.generations < 8
    recorded = np.concatenate([piece.results[:, 0] for piece in half.study.all_candidates()])
    assert half.best.objectives["f"] == recorded.min()


def test_a_database_that_is_locked_for_a_while_is_waited_for(tmp_path):
    path = tmp_path / "a.db"
    run(job(iterations=1), camel, database=path)
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("begin immediate")
    timer = threading.Timer(1.0, lambda: holder.execute("rollback"))
    timer.start()
    result = run(job(), camel, database=path)
    timer.join()
    holder.close()
    assert result.status == "finished"


def test_a_database_that_stays_locked_is_reported_and_nothing_is_lost(tmp_path, monkeypatch):
    path = tmp_path / "a.db"
    run(job(iterations=2), camel, database=path)
    monkeypatch.setattr("homodyn.search.studies.database.DATABASE_TIMEOUT_S", 0.2)
    with sqlite3.connect(path, isolation_level=None) as holder:
        holder.execute("begin immediate")
        with pytest.raises(SearchError, match="locked; another program has locked it"):
            run(job(), camel, database=path)
        holder.execute("rollback")
    holder.close()
    monkeypatch.undo()
    whole = run(job(), camel, database=tmp_path / "whole.db")
    assert run(job(), camel, database=path).study.fingerprint() == whole.study.fingerprint()


def test_a_full_disk_is_reported_and_the_study_continues_later(tmp_path):
    path = tmp_path / "a.db"
    described = job(optimizer=PSO(200), iterations=12)
    script = textwrap.dedent(
        f"""
        import resource, signal, sys
        from homodyn.search import Job, run
        from homodyn.errors import SearchError
        from support.search_objectives import camel
        # No file may grow beyond this, as on a disk that is full.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        job = Job.model_validate_json(sys.argv[1])
        try:
            run(job, camel, database={str(path)!r})
        except SearchError as error:
            print(error)
        """
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, "-c", script, described.model_dump_json(by_alias=True)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "is the disk full? Recorded results are kept" in done.stdout, done.stderr
    recorded = len(Study.open(path).generations())
    assert 1 <= recorded < 12
    result = run(described, camel, database=path)
    whole = run(described, camel, database=tmp_path / "whole.db")
    assert result.study.fingerprint() == whole.study.fingerprint()


def test_messages_that_are_not_unicode_are_recorded(tmp_path):
    def odd(parameters):
        raise ValueError("no file caf\udce9.osim \0 here")

    with pytest.raises(SearchError, match="all 3 candidates failed"):
        run(job(optimizer=PSO(3), iterations=1), odd, database=tmp_path / "a.db")
    study = Study.open(tmp_path / "a.db")
    messages = study.candidates(0).message
    assert messages == (r"ValueError: no file caf\udce9.osim \0 here",) * 3
    assert any(r"caf\udce9" in note for note in study.notes())


def test_files_that_are_not_studies_are_refused(tmp_path):
    (tmp_path / "text.db").write_text("not a database, but long enough to be looked at" * 50)
    with pytest.raises(SearchError, match="not a study, or it is damaged"):
        Study.open(tmp_path / "text.db")
    with pytest.raises(SearchError, match="there is no study"):
        Study.open(tmp_path / "none.db")
    with pytest.raises(SearchError, match="is the folder writable"):
        run(job(), camel, database=tmp_path / "no" / "folder" / "a.db")
    with pytest.raises(SearchError, match="cannot be opened as a database"):
        Study.open("nonsense://x")


def test_postgresql_keeps_several_studies():
    url = os.environ.get("HOMODYN_POSTGRESQL")
    if not url:
        pytest.skip("HOMODYN_POSTGRESQL has no URL of a database to try")
    name = f"test {os.getpid()} {time.time()}"
    whole = run(job(name=name), camel)
    run(job(name=name, iterations=3), camel, database=url)
    run(job(name=f"{name} other", seed=1, iterations=2), camel, database=url)
    parts = run(job(name=name), camel, database=url)
    assert parts.status == "finished"
    a, b = parts.study.candidates(0, 8), whole.study.candidates(0, 8)
    np.testing.assert_array_equal(a.values, b.values)
    np.testing.assert_array_equal(a.results, b.results)
    assert parts.best == whole.best
    assert parts.study.fingerprint() == whole.study.fingerprint()
    with parts.study.lock(), pytest.raises(SearchError, match="is being run by another process"):
        run(job(name=name, iterations=20), camel, database=url)
    with parts.study.lock():
        # A server that restarts ends all connections, the one of the lock too.
        others = "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'"
        with open_database(url, None).connect() as connection:
            connection.execute(text(others))
    longer = run(job(name=name, iterations=9), camel, database=url)
    assert longer.status == "finished"
    assert "generation 9 of 9" in str(summarize(longer.study))
    assert len(best_solutions(Study.open(url, name=name), 4)) == 4
    with pytest.raises(SearchError, match="does not have exactly one study"):
        Study.open(url)
