"""How to get the same result again: command, settings, versions, contents of the files."""

from __future__ import annotations

from html import escape
from pathlib import Path

from homodyn.analysis.pipeline import Analysis
from homodyn.analysis.provenance import software_versions
from homodyn.analysis.result_files import RESULT_FILES
from homodyn.report.html import paragraph, table


def provenance_html(analysis: Analysis) -> str:
    """The section of the page."""
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
                "The same files, settings and versions give the same numbers: nothing is drawn at "
                "random. With all files in one folder:"
            ),
            f"<pre>{escape(settings.command_line(analysis.source))}</pre>",
            table(
                [("file", ""), ("name", ""), ("SHA-256 begins with", "")], files, "What was read"
            ),
            table(
                [("", ""), ("version", "")],
                [[name, number] for name, number in software_versions().items()],
                "Versions",
            ),
            "<details><summary>All settings</summary>",
            table([("setting", ""), ("value", "")], rows),
            "</details><details><summary>Time of each stage</summary>",
            table([("stage", ""), ("time (s)", "n")], stages),
            "</details><details><summary>Files beside this page</summary>",
            table([("file", ""), ("what is in it", "")], written),
            "</details>",
        ]
    )
