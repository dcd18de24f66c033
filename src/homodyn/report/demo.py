"""The demonstration: a recorded walk analysed, and how close that came to the truth.

The recording ships with the package. It was made, so what really happened is known: a person whose
segments are those of no table walks over three force plates, seen with noise and gaps.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from homodyn import synthetic
from homodyn.analysis.pipeline import analyze
from homodyn.analysis.settings import Settings
from homodyn.report.files import write_analysis
from homodyn.report.quality import overall, verdicts
from homodyn.symbolic import machine
from homodyn.synthetic import (
    compare_with_truth,
    read_truth,
)

TRIAL = Path(synthetic.__file__).parent / "demo_trial"
"""``walk.c3d``, ``static.c3d`` and the folder ``truth``."""
HEIGHT, MASS = 1.78, 74.0
"""What a scale and a tape would say of the person (m, kg)."""


def run(folder: Path, tell: Callable[[str], None] = print) -> Path:
    """Analyse the trial of the package into ``folder``, tell each step; the path of the report."""
    here = machine()
    native = f"{here.lanes} lanes of {here.instruction_set}" if here.compiler else "no C compiler"
    tell(f"Kernels: {native}, {here.threads} threads; the first run on a machine compiles them.")
    tell(f"The recording: {TRIAL}, a walk over three plates and the person standing still.")
    started = perf_counter()
    settings = Settings(static=str(TRIAL / "static.c3d"), height=HEIGHT, mass=MASS)
    analysis = analyze(TRIAL / "walk.c3d", settings, tell=lambda stage: tell(f"  {stage} ..."))
    results = folder / "walk"
    write_analysis(analysis, results, overwrite=True)
    tell(f"Analysed in {perf_counter() - started:.1f} s: {overall(verdicts(analysis))}.")
    truth = read_truth(TRIAL)
    close = compare_with_truth(
        truth,
        model=analysis.model,
        motion=analysis.motion,
        loads=analysis.loads,
        events=analysis.events,
    )
    tell("How close it came to what really happened:")
    for what, told in close.rows:
        tell(f"  {what}: {told}")
    page = results / "report.html"
    tell(f"Wrote {results}; open {page} in a browser.")
    return page
