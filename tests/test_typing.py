"""Public functions are typed: mypy accepts right calls and refuses wrong ones.

Calls are in tests/typing: add a line to right_calls.py, or to wrong_calls.py with ``# error`` at
its end. The showcase and the examples must be accepted too.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from test_showcase import SHOWCASE

pytest.importorskip("mypy")

REPOSITORY = Path(__file__).resolve().parent.parent
FOLDER = REPOSITORY / "tests" / "typing"
EXAMPLES = REPOSITORY / "examples"
MARK = "# error"


@pytest.fixture(scope="module")
def errors(tmp_path_factory):
    """Lines with errors, by file name: line number to message."""
    showcase = tmp_path_factory.mktemp("typing") / "showcase.py"
    showcase.write_text(SHOWCASE)
    # Examples have no annotations of their own; their calls are checked all the same.
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml"]
    command += ["--allow-untyped-defs", "--allow-untyped-calls"]
    paths = [*FOLDER.glob("*.py"), *EXAMPLES.glob("**/*.py"), showcase]
    files = [str(path) for path in sorted(paths)]
    run = subprocess.run([*command, *files], cwd=REPOSITORY, capture_output=True, text=True)
    assert run.returncode in (0, 1), run.stdout + run.stderr
    found: dict[str, dict[int, str]] = {}
    for line in run.stdout.splitlines():
        match = re.match(r"(.+?):(\d+): error: (.*)", line)
        if match:
            found.setdefault(Path(match[1]).name, {})[int(match[2])] = match[3]
    return found


@pytest.mark.parametrize("name", ["right_calls.py", "wrong_calls.py"])
def test_exactly_the_marked_lines_are_refused(name, errors):
    lines = (FOLDER / name).read_text().splitlines()
    marked = {k for k, line in enumerate(lines, 1) if line.endswith(MARK)}
    refused = errors.get(name, {})
    missed = [
        f"line {k} is accepted: {lines[k - 1].strip()}" for k in sorted(marked - set(refused))
    ]
    wrong = [
        f"line {k} is refused: {lines[k - 1].strip()} ({refused[k]})"
        for k in sorted(set(refused) - marked)
    ]
    assert not missed + wrong, "\n".join(missed + wrong)


def test_the_showcase_and_the_examples_are_accepted(errors):
    assert set(errors) <= {"wrong_calls.py"}
    assert len(list(EXAMPLES.glob("**/*.py"))) > 10


def test_there_are_right_and_wrong_calls():
    assert MARK not in (FOLDER / "right_calls.py").read_text()
    assert (FOLDER / "wrong_calls.py").read_text().count(f"{MARK}\n") > 20
