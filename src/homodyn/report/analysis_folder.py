"""The folder of an analysis: tables of numbers and one HTML page."""

from __future__ import annotations

from pathlib import Path

from homodyn.analysis.pipeline import Analysis
from homodyn.analysis.result_files import write_result
from homodyn.report.overview import write_overview
from homodyn.report.trial_page import analysis_page


class HtmlPages:
    """Writes an HTML page per result and an overview of all; an argument of `analyze_batch`."""

    def trial_page(self, analysis: Analysis) -> str:
        """Return the HTML page of one analysis.

        Args:
            analysis: What `analyze` returned.

        Returns:
            The page as text; it loads nothing from elsewhere.
        """
        return analysis_page(analysis)

    def write_overview(self, folder: Path) -> Path | None:
        """Write ``index.html`` and ``gait.csv`` of all results in a folder.

        Args:
            folder: Folder with one folder per result.

        Returns:
            The path of ``index.html``; None when there is no result.
        """
        return write_overview(folder)


def write_analysis(
    analysis: Analysis,
    folder: str | Path,
    *,
    overwrite: bool = False,
    run_fingerprint: str | None = None,
) -> Path:
    """Write an analysis into a folder of its own: tables, summary, log and ``report.html``.

    Args:
        analysis: What `analyze` returned.
        folder: The folder to write; its parents are created.
        overwrite: Replace a folder that already contains a result.
        run_fingerprint: Fingerprint of the run; computed when omitted.

    Returns:
        The folder.

    Raises:
        FormatError: The folder exists and may not be replaced, or cannot be written.
    """
    return write_result(
        analysis, folder, overwrite=overwrite, run_fingerprint=run_fingerprint, pages=HtmlPages()
    )
