"""Draw the packages, their sizes and imports, into docs/architecture.md.

python tools/draw_architecture.py [--check]

Writes docs/images/architecture.svg and the table of packages in docs/architecture.md. With
``--check`` nothing is written; the exit status is 0 if the table is up to date.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "homodyn"
PAGE = ROOT / "docs" / "architecture.md"
FIGURE = ROOT / "docs" / "images" / "architecture.svg"
BEGIN, END = "<!-- packages: begin -->", "<!-- packages: end -->"

LAYERS = (
    ("faces", ("cli", "studio", "report", "bench")),
    ("studies", ("analysis",)),
    ("movement", ("gait", "optimal", "search", "balance")),
    ("world and time", ("synthetic", "capture", "control", "simulate", "muscle", "network")),
    ("records and mechanics", ("motion", "catalog", "dynamics", "model")),
    ("ground", ("integrate", "symbolic", "foundation")),
)
"""Packages from top to bottom; imports go downwards only."""

BOX_WIDTH, BOX_HEIGHT, GAP, LEFT, TOP = 172, 62, 22, 150, 20


@dataclass(frozen=True)
class PackageSize:
    """Files, lines and purpose of one package."""

    name: str
    files: int
    lines: int
    purpose: str


def package_sizes() -> list[PackageSize]:
    """One entry per package, from top to bottom."""
    found = []
    for _, names in LAYERS:
        for name in names:
            files = sorted((PACKAGE / name).rglob("*.py"))
            lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
            tree = ast.parse((PACKAGE / name / "__init__.py").read_text(encoding="utf-8"))
            purpose = (ast.get_docstring(tree) or "").split("\n")[0].rstrip(".")
            found.append(PackageSize(name, len(files), lines, purpose))
    return found


def imported_modules(file: Path) -> set[str]:
    """Dotted names below homodyn that a file imports anywhere."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("homodyn"):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {a.name for a in node.names if a.name.startswith("homodyn.")}
    return {name.removeprefix("homodyn.") for name in found}


def import_counts() -> Counter[tuple[str, str]]:
    """Number of files of a package that import another package, or their own."""
    known = {name for _, names in LAYERS for name in names}
    counts: Counter[tuple[str, str]] = Counter()
    for name in known:
        for file in (PACKAGE / name).rglob("*.py"):
            others = {module.split(".")[0] for module in imported_modules(file)} & known
            counts.update((name, other) for other in others)
    return counts


def table(sizes: list[PackageSize], counts: Counter[tuple[str, str]]) -> str:
    """The packages as a Markdown table."""
    rows = ["| package | what it holds | files | lines | imports |", "|---|---|---:|---:|---|"]
    for size in sizes:
        used = [other.name for other in sizes if counts[size.name, other.name]]
        names = ", ".join(f"`{name}`" for name in used if name != size.name) or "-"
        rows.append(f"| `{size.name}` | {size.purpose} | {size.files} | {size.lines} | {names} |")
    files, lines = (sum(getattr(s, part) for s in sizes) for part in ("files", "lines"))
    return "\n".join([*rows, f"| all | | {files} | {lines} | |"])


def figure_text(sizes: list[PackageSize], counts: Counter[tuple[str, str]]) -> str:
    """The packages as an SVG figure: boxes by layer, line widths by the number of imports."""
    by_name = {size.name: size for size in sizes}
    places: dict[str, tuple[float, float]] = {}
    for row, (_, names) in enumerate(LAYERS):
        for column, name in enumerate(names):
            x = LEFT + column * (BOX_WIDTH + GAP)
            places[name] = (x, TOP + row * (BOX_HEIGHT + 58))
    width = LEFT + 4 * (BOX_WIDTH + GAP)
    height = TOP + len(LAYERS) * (BOX_HEIGHT + 58)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="14">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for (upper, lower), count in sorted(counts.items()):
        if upper == lower:
            continue
        (x0, y0), (x1, y1) = places[upper], places[lower]
        half = BOX_WIDTH / 2
        if y0 == y1:
            bend, y = y0 - 18, y0
            path = f"M{x0 + half} {y} Q{(x0 + x1) / 2 + half} {bend - 18} {x1 + half} {y}"
        else:
            path = (
                f"M{x0 + half} {y0 + BOX_HEIGHT} C{x0 + half} {y0 + BOX_HEIGHT + 40}, "
                f"{x1 + half} {y1 - 40}, {x1 + half} {y1}"
            )
        stroke = min(0.6 + count / 12, 5)
        parts.append(
            f'<path d="{path}" fill="none" stroke="#3b6ea5" stroke-opacity="0.28" '
            f'stroke-width="{stroke:.1f}"/>'
        )
    for row, (layer, names) in enumerate(LAYERS):
        y = TOP + row * (BOX_HEIGHT + 58) + BOX_HEIGHT / 2 + 5
        parts.append(f'<text x="8" y="{y}" fill="#555555">{layer}</text>')
        for name in names:
            x, top = places[name]
            size = by_name[name]
            inside = counts[name, name]
            parts.append(
                f'<rect x="{x}" y="{top}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="6" '
                'fill="#f4f7fb" stroke="#3b6ea5"/>'
                f'<text x="{x + BOX_WIDTH / 2}" y="{top + 24}" text-anchor="middle" '
                f'font-weight="bold">{name}</text>'
                f'<text x="{x + BOX_WIDTH / 2}" y="{top + 45}" text-anchor="middle" '
                f'font-size="12" fill="#333333">{size.files} files, {size.lines} lines, '
                f"{inside} inside</text>"
            )
    return "\n".join([*parts, "</svg>\n"])


def main() -> int:
    """Write the page and the figure, or check that they are up to date."""
    sizes, counts = package_sizes(), import_counts()
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    text = f"{before}{BEGIN}\n{table(sizes, counts)}\n{END}{after}"
    if "--check" in sys.argv:
        return int(text != PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(text, encoding="utf-8")
    FIGURE.write_text(figure_text(sizes, counts), encoding="utf-8")
    print(f"{PAGE}\n{FIGURE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
