"""Progress on stderr: stages and the kernels that a command compiles."""

import pytest
from rich.progress import Progress

from homodyn.cli.progress import CompiledKernelsColumn, stage_progress


def test_kernels_that_are_compiled_meanwhile_are_counted(tmp_path, monkeypatch):
    monkeypatch.setenv("HOMODYN_CACHE", str(tmp_path))
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "kernel.so").touch()
    column = CompiledKernelsColumn()
    progress = Progress(column)
    progress.add_task("fitting")
    (task,) = progress.tasks
    assert column.render(task).plain == ""
    for count, text in enumerate(("1 kernel compiled", "2 kernels compiled")):
        (tmp_path / f"new{count}").mkdir()
        (tmp_path / f"new{count}" / "kernel.so").touch()
        assert column.render(task).plain == text


def test_nothing_is_shown_where_stderr_is_not_a_terminal(capfd):
    with stage_progress("reading") as show:
        show("fitting")
        print("result")
    captured = capfd.readouterr()
    assert captured.out == "result\n"
    assert captured.err.strip() == ""


def test_an_error_passes_through():
    with pytest.raises(ValueError, match="bad"), stage_progress("reading"):
        raise ValueError("bad")
