"""The demonstration: analysis of the bundled walk, its report and its errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from homodyn.analysis.demo import DEMO_TRIAL_FOLDER, analyze_demo
from homodyn.analysis.quality import quality_verdicts
from homodyn.analysis.result_files import PAGE
from homodyn.analysis.verdict import overall_light
from homodyn.foundation import Record, record
from homodyn.report.analysis_folder import write_analysis
from homodyn.symbolic import cache, machine


@record
class DemoReport(Record):
    """What the demonstration wrote, and how close its result is to the known truth."""

    page: Path
    """The report."""
    seconds: float
    """Duration of the analysis (s)."""
    quality: str
    """Overall quality: good, fair or poor."""
    errors: tuple[tuple[str, str], ...]
    """Quantity and its error against the truth."""


def write_demo(
    folder: Path,
    log: Callable[[str], None] = print,
    *,
    stage: Callable[[str], None] | None = None,
) -> DemoReport:
    """Analyze the bundled walk and write the result.

    Args:
        folder: Output folder; the result goes into its subfolder ``walk``.
        log: Called with each line of the log.
        stage: Called with the name of each stage when it begins.

    Returns:
        The page, the duration and the errors.
    """
    here = machine()
    if here.compiler is None:
        log("Kernels: no C compiler, so they run on CasADi's virtual machine.")
    else:
        log(f"Kernels: {here.lanes} lanes of {here.instruction_set}, {here.threads} threads.")
        if not cache.usage()[0]:
            log(f"This is the first run: it compiles kernels and stores them in {here.cache}.")
    log(f"Recording: {DEMO_TRIAL_FOLDER}, a walk over three plates and a static trial.")
    started = perf_counter()

    def begin(name: str) -> None:
        log(f"  {name} ...")
        if stage is not None:
            stage(name)

    demo = analyze_demo(begin)
    begin("writing")
    results = folder / "walk"
    write_analysis(demo.analysis, results, overwrite=True)
    seconds = perf_counter() - started
    quality = overall_light(quality_verdicts(demo.analysis))
    log(f"Analyzed in {seconds:.1f} s; quality: {quality}.")
    log("Errors against the known truth:")
    for quantity, error in demo.comparison.rows:
        log(f"  {quantity}: {error}")
    page = results / PAGE
    log(f"Wrote {results}; open {page} in a browser.")
    return DemoReport(page, seconds, quality, demo.comparison.rows)
