"""Tests mirror the source tree: `src/homodyn/a/b.py` is tested by `tests/a/test_b.py`.

`mirror.toml` lists what differs: modules that are tested through others, and test files that are
not about one module. A module without functions (re-exports, constants, records, declarations of
interfaces) needs no test. `tools/trace_tests.py` runs tests and compares the calls with the table.
"""

import ast
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pytest

import homodyn

TESTS = Path(__file__).parent
SOURCE = Path(homodyn.__file__).parent
TABLE = TESTS / "mirror.toml"


@dataclass(frozen=True)
class MirrorTable:
    """What differs from the rule; paths are relative to the package and to the tests."""

    tested_by: Mapping[str, Sequence[str]]
    """By module without a test file of its own, the test files that test it."""
    without_test: Mapping[str, str]
    """By module that the tests cannot call, the reason."""
    cross_cutting: Mapping[str, str]
    """By test file that is not about one module, the reason."""


def read_table(path: Path) -> MirrorTable:
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    return MirrorTable(content["tested_by"], content["without_test"], content["cross_cutting"])


def mirrored_test(module: str) -> str:
    """The test file of a module: ``a/test_b.py`` for ``a/b.py``."""
    path = PurePosixPath(module)
    return str(path.with_name(f"test_{path.name}"))


def has_functions(path: Path) -> bool:
    """Whether a module has behavior: a lambda, or a function or method with a body."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Lambda):
            return True
        if isinstance(node, functions) and not all(map(_is_constant, node.body)):
            return True
    return False


def _is_constant(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring or an ellipsis, as in declarations of interfaces."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def files_of(folder: Path, pattern: str) -> dict[str, Path]:
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob(pattern))}


def mirror_errors(source: Path, tests: Path, table: MirrorTable) -> list[str]:
    """Deviations of the tests from the source tree that the table does not state, or no longer.

    Args:
        source: Folder of the package.
        tests: Folder of the tests.
        table: What differs from the rule.
    """
    modules, test_files = files_of(source, "*.py"), files_of(tests, "test_*.py")
    return [
        *_untested_modules(modules, test_files, table),
        *_stale_modules(modules, test_files, table),
        *_test_file_errors(modules, test_files, table),
        *_order_errors(table),
    ]


def _untested_modules(
    modules: Mapping[str, Path], test_files: Mapping[str, Path], table: MirrorTable
) -> Iterator[str]:
    for module, path in modules.items():
        test = mirrored_test(module)
        listed = module in table.tested_by or module in table.without_test
        if test not in test_files and not listed and has_functions(path):
            yield f"{module} has no test: write {test}, or list the tests that call it"


def _stale_modules(
    modules: Mapping[str, Path], test_files: Mapping[str, Path], table: MirrorTable
) -> Iterator[str]:
    for module in (*table.tested_by, *table.without_test):
        if module not in modules:
            yield f"{module} is listed and does not exist"
        elif mirrored_test(module) in test_files:
            yield f"{module} is listed and has its own test {mirrored_test(module)}"
        elif not has_functions(modules[module]):
            yield f"{module} is listed and has no functions"
    for module, reason in table.without_test.items():
        if module in table.tested_by:
            yield f"{module} is listed with tests and as without test"
        if not reason.strip():
            yield f"{module} is listed without a reason"
    for module, listed in table.tested_by.items():
        if not listed:
            yield f"{module} is listed without tests"
        for test in listed:
            if test not in test_files:
                yield f"{module} is listed with {test}, which does not exist"


def _test_file_errors(
    modules: Mapping[str, Path], test_files: Mapping[str, Path], table: MirrorTable
) -> Iterator[str]:
    mirrored = {mirrored_test(module) for module in modules}
    for test in test_files:
        if test not in mirrored and test not in table.cross_cutting:
            yield f"{test} has no module of its name: rename it, or list it with a reason"
    for test, reason in table.cross_cutting.items():
        if test not in test_files:
            yield f"{test} is listed and does not exist"
        elif test in mirrored:
            yield f"{test} is listed and has a module of its name"
        if not reason.strip():
            yield f"{test} is listed without a reason"


def _order_errors(table: MirrorTable) -> Iterator[str]:
    rows = {
        "modules": list(table.tested_by),
        "modules without test": list(table.without_test),
        "test files": list(table.cross_cutting),
        **{f"tests of {module}": list(tests) for module, tests in table.tested_by.items()},
    }
    for name, row in rows.items():
        if row != sorted(set(row)):
            yield f"the {name} are not sorted, or repeat"


def test_tests_mirror_the_source_tree():
    errors = mirror_errors(SOURCE, TESTS, read_table(TABLE))
    assert errors == [], "\n".join(errors)


FUNCTION = "def mass():\n    return 1.0\n"
FILES = {
    "package/__init__.py": '"""Records."""\n',
    "package/body.py": FUNCTION,
    "package/limits.py": "MAX_MASS_KG = 3.0\n",
    "package/interface.py": "class Part:\n    def mass(self) -> float:\n        ...\n",
    "package/parts/shape.py": FUNCTION,
    "package/peer.py": FUNCTION,
    "tests/test_body.py": "",
    "tests/parts/test_all_parts.py": "",
}
TESTED_BY = {"parts/shape.py": ["test_body.py"]}
WITHOUT_TEST = {"peer.py": "runs elsewhere"}
CROSS_CUTTING = {"parts/test_all_parts.py": "every part"}


def small_tree(folder: Path, changes: Mapping[str, str | None]) -> tuple[Path, Path]:
    """A package and its tests that follow the rule, except for changes (None: no such file)."""
    for name, text in {**FILES, **changes}.items():
        if text is not None:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return folder / "package", folder / "tests"


def test_a_tree_that_follows_the_rule_has_no_errors(tmp_path):
    source, tests = small_tree(tmp_path, {})
    assert mirror_errors(source, tests, MirrorTable(TESTED_BY, WITHOUT_TEST, CROSS_CUTTING)) == []


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"package/joint.py": FUNCTION}, "joint.py has no test: write test_joint.py"),
        ({"package/parts/joint.py": FUNCTION}, "parts/joint.py has no test: write parts/test_jo"),
        ({"package/limits.py": "bound = lambda x: x\n"}, "limits.py has no test"),
        ({"package/__init__.py": FUNCTION}, "__init__.py has no test"),
        ({"package/interface.py": FUNCTION}, "interface.py has no test"),
        ({"package/peer.py": None}, "peer.py is listed and does not exist"),
        ({"tests/test_peer.py": ""}, "peer.py is listed and has its own test"),
        ({"tests/test_body.py": None, "tests/parts/test_body.py": ""}, "body.py has no test"),
        ({"package/parts/shape.py": None}, "parts/shape.py is listed and does not exist"),
        ({"package/parts/shape.py": "SIDES = 4\n"}, "shape.py is listed and has no functions"),
        ({"tests/parts/test_shape.py": ""}, "parts/shape.py is listed and has its own test"),
        ({"tests/test_body.py": None}, "with test_body.py, which does not exist"),
        ({"tests/test_mass.py": ""}, "test_mass.py has no module of its name"),
        ({"package/body.py": None}, "test_body.py has no module of its name"),
        ({"tests/parts/test_all_parts.py": None}, "test_all_parts.py is listed and does not exist"),
        ({"package/parts/all_parts.py": FUNCTION}, "test_all_parts.py is listed and has a module"),
    ],
)
def test_a_planted_deviation_is_found(tmp_path, changes, error):
    source, tests = small_tree(tmp_path, changes)
    errors = mirror_errors(source, tests, MirrorTable(TESTED_BY, WITHOUT_TEST, CROSS_CUTTING))
    assert any(error in line for line in errors), errors


@pytest.mark.parametrize(
    ("tested_by", "without_test", "cross_cutting", "error"),
    [
        ({"parts/shape.py": []}, WITHOUT_TEST, CROSS_CUTTING, "shape.py is listed without tests"),
        (
            {"parts/shape.py": ["test_body.py"] * 2},
            WITHOUT_TEST,
            CROSS_CUTTING,
            "tests of parts/shape.py are not sorted, or repeat",
        ),
        (
            {"z.py": ["test_body.py"], **TESTED_BY},
            WITHOUT_TEST,
            CROSS_CUTTING,
            "modules are not sorted",
        ),
        (TESTED_BY, {"peer.py": ""}, CROSS_CUTTING, "peer.py is listed without a reason"),
        (
            TESTED_BY,
            {"body.py": "slow", **WITHOUT_TEST},
            CROSS_CUTTING,
            "body.py is listed and has",
        ),
        (
            {**TESTED_BY, "peer.py": ["test_body.py"]},
            WITHOUT_TEST,
            CROSS_CUTTING,
            "as without test",
        ),
        (
            TESTED_BY,
            WITHOUT_TEST,
            {"parts/test_all_parts.py": " "},
            "test_all_parts.py is listed without a reason",
        ),
        (
            TESTED_BY,
            WITHOUT_TEST,
            {"test_z.py": "last", **CROSS_CUTTING},
            "test files are not sorted",
        ),
    ],
)
def test_a_planted_fault_of_the_table_is_found(
    tmp_path, tested_by, without_test, cross_cutting, error
):
    source, tests = small_tree(tmp_path, {})
    errors = mirror_errors(source, tests, MirrorTable(tested_by, without_test, cross_cutting))
    assert any(error in line for line in errors), errors
