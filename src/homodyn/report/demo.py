"""The demonstration written for people: results and page of the bundled walk, and its errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from homodyn.analysis.demo import DEMO_TRIAL_FOLDER, analyze_demo
from homodyn.analysis.quality import overall_light, quality_verdicts
from homodyn.analysis.result_files import PAGE
from homodyn.report.analysis_folder import write_analysis
from homodyn.symbolic import machine


def write_demo(folder: Path, progress: Callable[[str], None] = print) -> Path:
    """Analyze the bundled walk and write the result.

    Args:
        folder: Output folder; the result goes into its subfolder ``walk``.
        progress: Called with each line of the log.

    Returns:
        The path of the page.
    """
    here = machine()
    native = f"{here.lanes} lanes of {here.instruction_set}" if here.compiler else "no C compiler"
    progress(f"Kernels: {native}, {here.threads} threads; the first run compiles them.")
    progress(f"Recording: {DEMO_TRIAL_FOLDER}, a walk over three plates and a static trial.")
    started = perf_counter()
    demo = analyze_demo(lambda stage: progress(f"  {stage} ..."))
    results = folder / "walk"
    write_analysis(demo.analysis, results, overwrite=True)
    seconds = perf_counter() - started
    progress(
        f"Analyzed in {seconds:.1f} s; quality: {overall_light(quality_verdicts(demo.analysis))}."
    )
    progress("Errors against the known truth:")
    for quantity, error in demo.comparison.rows:
        progress(f"  {quantity}: {error}")
    page = results / PAGE
    progress(f"Wrote {results}; open {page} in a browser.")
    return page
