"""The table of a benchmark report."""

from rich.console import Console

from homodyn.bench.table import table


def test_the_table_colors_ratios_by_their_requirement(report):
    console = Console(width=120, force_terminal=True, color_system="standard")
    with console.capture() as capture:
        console.print(table(report))
    text = capture.get()
    assert "\x1b[32m" in next(line for line in text.splitlines() if "fast" in line)
    assert "\x1b[31m" in next(line for line in text.splitlines() if "slow" in line)
    alone = next(line for line in text.splitlines() if "alone" in line)
    assert "pin is not installed" in alone
    assert "1,23" in alone
    assert "abacus" in text
