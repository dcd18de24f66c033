"""How to reproduce a result: command, settings, versions and checksums of the files."""

from __future__ import annotations

from html import escape
from pathlib import Path

from homodyn.analysis.pipeline import Analysis
from homodyn.analysis.provenance import software_versions
from homodyn.analysis.result_files import RESULT_FILES
from homodyn.report.html import details, paragraph, table


def provenance_html(analysis: Analysis) -> str:
    """The section of the page as HTML."""
    settings = analysis.settings
    rows = [
        [name, "–" if value is None else str(value)]
        for name, value in settings.with_file_names().to_dict().items()
    ]
    files = [
        [what, Path(path).name, analysis.digests.get(what, "")[:16]]
        for what, path in {"trial": analysis.source, **settings.files()}.items()
    ]
    stages = [[stage, f"{seconds:.2f}"] for stage, seconds in analysis.seconds.items()]
    written = [[name, what] for name, what in RESULT_FILES.items()]
    return "".join(
        [
            paragraph(
                "The same files, settings and versions give the same numbers. With all files in "
                "one folder, run:"
            ),
            f"<pre>{escape(settings.command_line(analysis.source))}</pre>",
            table([("file", ""), ("name", ""), ("SHA-256 (start)", "")], files, "Input files"),
            table(
                [("", ""), ("version", "")],
                [[name, number] for name, number in software_versions().items()],
                "Versions",
            ),
            details("All settings", table([("setting", ""), ("value", "")], rows)),
            details("Time of each stage", table([("stage", ""), ("time (s)", "n")], stages)),
            details("Files beside this page", table([("file", ""), ("content", "")], written)),
        ]
    )
