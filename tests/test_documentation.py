"""The README and the guide do what they say: code runs, and links, names and files exist.

In every file the fenced blocks run from top to bottom, in one temporary folder: blocks marked
``python`` in one namespace, and in blocks marked ``console`` the lines that begin with
``$ homodyn``. Other lines of a console block are commands of other programs, or output, and are
only read. Code that is not meant to run is marked ``text``.
"""

import importlib
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

import homodyn
from homodyn.cli import app

REPOSITORY = Path(__file__).resolve().parent.parent
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("**/*.md"))]
LINKED = [*PAGES, REPOSITORY / "CHANGELOG.md", REPOSITORY / "CONTRIBUTING.md"]
SOURCE = REPOSITORY / "src" / "homodyn"
PAGES_WITH_FILES = {
    "docs/architecture.md": SOURCE,
    "docs/compiler.md": SOURCE / "symbolic",
    "docs/extending.md": SOURCE,
    "CONTRIBUTING.md": SOURCE,
}
"""Pages that name source files, and the folder that their paths start from."""
INTERFACES = {
    "homodyn.simulate.laws": ("ForceLaw", "StepLaw", "EventDrivenLaw"),
    "homodyn.simulate.actuation": ("Actuation", "Controller"),
    "homodyn.simulate.geometry": ("Surface",),
    "homodyn.integrate": ("Integrator",),
    "homodyn.optimal": ("ObjectiveTerm", "PathConstraint", "Transcription"),
    "homodyn.search": ("Optimizer", "OptimizerSettings", "Executor"),
    "homodyn.capture.formats": ("RecordingFormat",),
    "homodyn.model.formats": ("ModelFormat",),
    "homodyn.studio.panels": ("Panel",),
}
"""Classes that users implement, by module."""

LINK = re.compile(r"\[[^\]]*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,}|~{3,}) *(?P<language>[^`\n]*)$")
DOTTED_NAME = re.compile(r"(?<![\w./-])(?:hd|homodyn)((?:\.[A-Za-z_]\w*)+)")
SOURCE_FILE = re.compile(r"`((?:[a-z0-9_]+/)+(?:[a-z0-9_]+\.[a-z]+)?|[a-z0-9_]+\.py)`")
# Ways to write Python that would look like code to a reader and not be run.
DISGUISES = {"py", "python3", "pycon", "ipython", "Python"}


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its lines, and the line of the page its first one is."""

    language: str
    lines: tuple[str, ...]
    first: int


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    lines = iter(enumerate(text.splitlines(), start=1))
    for number, line in lines:
        if opening := FENCE.match(line):
            indent, ticks = len(opening["indent"]), opening["ticks"]
            inside = []
            for _, inner in lines:
                if inner.strip().startswith(ticks):
                    break
                inside.append(inner[min(indent, len(inner) - len(inner.lstrip())) :])
            else:
                raise ValueError(f"the block that opens in line {number} is never closed")
            yield Block(opening["language"].strip(), tuple(inside), number + 1)


def execute(text: str, page: str) -> None:
    """Run the blocks of a page in the current folder."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(text):
        if block.language == "python":
            # Blank lines above put the lines of a traceback where they are in the page.
            source = "\n" * (block.first - 1) + "\n".join(block.lines)
            exec(compile(source, page, "exec"), namespace)
        elif block.language == "console":
            for line in block.lines:
                if line.startswith("$ homodyn"):
                    words = shlex.split(line.removeprefix("$ homodyn"), comments=True)
                    result = CliRunner().invoke(app, words, prog_name="homodyn")
                    assert result.exit_code == 0, f"{page}: {line}\n{result.output}"
        elif block.language.split(" ")[0] in DISGUISES or block.language.startswith("python"):
            raise ValueError(f"{page}:{block.first - 1}: write python or text")


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    text = page.read_text("utf-8")
    for block in blocks(text):
        text = text.replace("\n".join(block.lines), "", 1)
    return text


def anchors(page: Path) -> set[str]:
    """The names that the headings of a page can be linked by."""
    headings = re.findall(r"^#+ +(.+?)\s*$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> list[str]:
    """The relative links of a page that lead nowhere."""
    broken = []
    for link in LINK.findall(re.sub(r"`[^`\n]+`", "", prose(page))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    return broken


def exists(dotted: str) -> bool:
    """Whether a name below the package is a module, an attribute, or a field of a class."""
    value, path = homodyn, "homodyn"
    for part in dotted.strip(".").split("."):
        if isinstance(value, type) and any(
            part in vars(base).get("__annotations__", {}) for base in value.__mro__
        ):
            return True
        if not hasattr(value, part):
            try:
                importlib.import_module(f"{path}.{part}")
            except ImportError:
                return False
        value, path = getattr(value, part), f"{path}.{part}"
    return True


def unknown_names(text: str) -> list[str]:
    """The names that begin with ``hd.`` or ``homodyn.`` and do not exist."""
    found = {match[0]: match[1] for match in DOTTED_NAME.finditer(text)}
    return [name for name, dotted in found.items() if not exists(dotted)]


def present_names(changelog: str) -> str:
    """A list of changes without the old names: the first cells of its tables."""
    return re.sub(r"^\|.*?(?<!\\)\|(?=.)", "|", changelog, flags=re.MULTILINE)


def missing_files(page: str, folder: Path) -> list[str]:
    """The files that a page names and that are neither in the folder nor in the repository."""
    files = SOURCE_FILE.findall(page)
    return [file for file in files if not any((f / file).exists() for f in (folder, REPOSITORY))]


def name(page: Path) -> str:
    return page.relative_to(REPOSITORY).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_code_in_the_documentation_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    execute(page.read_text("utf-8"), name(page))


@pytest.mark.parametrize("page", LINKED, ids=name)
def test_links_in_the_documentation_lead_somewhere(page):
    assert broken_links(page) == []


@pytest.mark.parametrize("page", [p for p in LINKED if p.parent.name != "api"], ids=name)
def test_names_in_the_documentation_exist(page):
    text = page.read_text("utf-8")
    assert unknown_names(present_names(text) if page.name == "CHANGELOG.md" else text) == []


@pytest.mark.parametrize("page", PAGES_WITH_FILES)
def test_files_in_the_documentation_exist(page):
    text = (REPOSITORY / page).read_text("utf-8")
    assert SOURCE_FILE.search(text)
    assert missing_files(text, PAGES_WITH_FILES[page]) == []


@pytest.mark.parametrize("module", INTERFACES)
def test_every_interface_is_in_the_table_of_extensions(module):
    rows = [
        line
        for line in (REPOSITORY / "docs" / "extending.md").read_text("utf-8").splitlines()
        if line.startswith("| ")
    ]
    for interface in INTERFACES[module]:
        assert getattr(importlib.import_module(module), interface).__doc__
        assert any(f"`{interface}`" in row and "#" in row for row in rows), interface


def test_the_readme_has_a_first_snippet():
    assert any(block.language == "python" for block in blocks(PAGES[0].read_text("utf-8")))


def test_blocks_share_a_namespace_and_failures_name_the_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = "# A\n\n```python\nx = 1\n```\n\n- b\n\n  ```python\n  assert x == 1\n  x / 0\n  ```\n"
    with pytest.raises(ZeroDivisionError) as caught:
        execute(page, "page.md")
    assert caught.traceback[-1].lineno + 1 == 11


def test_a_failing_command_is_caught():
    execute("```console\n$ homodyn --version  # says it\nhomodyn 9\n$ false\n```", "page.md")
    with pytest.raises(AssertionError, match="no-such-command"):
        execute("```console\n$ homodyn no-such-command\n```", "page.md")


@pytest.mark.parametrize("language", ["py", "pycon", "python no-run", "python3"])
def test_python_that_would_not_run_is_caught(language):
    with pytest.raises(ValueError, match=r"page\.md:1: write python or text"):
        execute(f"```{language}\n1 / 0\n```", "page.md")


def test_broken_links_are_caught(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# The `first` part\n[a](page.md) [b](#the-first-part) [c](https://example.org)\n"
        "[d](page.md#the-first-part) `[e](code.md)` [f](gone.md) [g](#gone) ![h](gone.png)\n"
        "```text\n[i](code.md)\n# no heading\n```\n[j](#no-heading)\n"
    )
    assert broken_links(page) == ["gone.md", "#gone", "gone.png", "#no-heading"]


def test_unknown_names_and_files_are_caught(tmp_path):
    text = "`hd.motion.Motion.tau`, hd.capture.read(x), homodyn.errors; hd.capture.fit, hd.gone.by"
    assert unknown_names(text) == ["hd.capture.fit", "hd.gone.by"]
    assert unknown_names(present_names("| `hd.old` | `hd.new` |\n| `hd.old` | `hd.load` |")) == [
        "hd.new"
    ]
    (tmp_path / "here.py").touch()
    text = "`here.py`, `tests/cli/`, `tests/gone/`, `gone.py`, `cli/gone.py`, `a = b/c`"
    assert missing_files(text, tmp_path) == ["tests/gone/", "gone.py", "cli/gone.py"]
