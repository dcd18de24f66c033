"""The demonstration: analyze the bundled walk and compare the result with its known truth.

The recording ships with the package. It is synthetic, so its truth is known: a person whose
segments match no anthropometric table walks over three force plates, with noise and gaps in the
markers.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from homodyn import synthetic
from homodyn.analysis.pipeline import Analysis, analyze
from homodyn.analysis.settings import Settings
from homodyn.foundation import Record, record
from homodyn.synthetic import AnalysisErrors, compare_with_truth, read_truth

DEMO_TRIAL_FOLDER = Path(synthetic.__file__).parent / "demo_trial"
"""Folder with ``walk.c3d``, ``static.c3d`` and the folder ``truth``."""
DEMO_SETTINGS = Settings(static=str(DEMO_TRIAL_FOLDER / "static.c3d"), height=1.78, mass=74.0)
"""Height and mass as a tape and a scale would measure them."""


@record
class DemoResult(Record):
    """The analysis of the bundled walk and its errors against the truth."""

    analysis: Analysis
    comparison: AnalysisErrors
    """Errors against the truth."""


def analyze_demo(progress: Callable[[str], None] | None = None) -> DemoResult:
    """Analyze the bundled walk and compare the result with the truth.

    Args:
        progress: Called with the name of each stage when it starts.

    Returns:
        The analysis and its errors.
    """
    analysis = analyze(DEMO_TRIAL_FOLDER / "walk.c3d", DEMO_SETTINGS, progress=progress)
    comparison = compare_with_truth(
        read_truth(DEMO_TRIAL_FOLDER),
        model=analysis.model,
        motion=analysis.motion,
        loads=analysis.loads,
        events=analysis.events,
    )
    return DemoResult(analysis, comparison)
