"""Script that runs OpenSim's StaticOptimization, which cannot share a process with CasADi.

Run as ``python -I opensim_sharing_peer.py REQUEST``. The request is a JSON file with the model, a
table of coordinates, an ExternalLoads file, strengths of reserves by coordinate, and intervals of
time. Prints one JSON object: seconds of processor time, times and activations of each interval,
and forces of all actuators of the last one.
"""

import json
import os
import sys
from pathlib import Path
from time import process_time
from typing import Any

CONVERGENCE_TOLERANCE = 1e-4
"""Default of the tool."""
MAX_ITERATIONS = 100
MAX_CONTROL = 1e6


def main() -> None:
    """Run the analysis over all intervals."""
    import opensim

    opensim.Logger.setLevelString("off")
    # The libraries print to stdout.
    stdout = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    asked = json.loads(Path(sys.argv[1]).read_text())
    model = opensim.Model(asked["model"])
    for name, strength in asked["reserves"].items():
        actuator = opensim.CoordinateActuator(name)
        actuator.setName(f"reserve_{name}")
        actuator.setOptimalForce(strength)
        actuator.setMinControl(-MAX_CONTROL)
        actuator.setMaxControl(MAX_CONTROL)
        model.addForce(actuator)
    model.printToXML("model.osim")
    runs = [_run(opensim, asked, interval) for interval in asked["intervals"]]
    found = {
        "seconds": [seconds for seconds, _ in runs],
        "activations": [tables["activation"] for _, tables in runs],
        "forces": runs[-1][1]["force"],
    }
    print(json.dumps(found), file=stdout, flush=True)


def _run(opensim: Any, asked: dict[str, Any], interval: list[float]) -> tuple[float, Any]:
    analysis = opensim.StaticOptimization()
    analysis.setName("sharing")
    analysis.setUseModelForceSet(True)
    analysis.setActivationExponent(2.0)
    analysis.setUseMusclePhysiology(True)
    analysis.setConvergenceCriterion(CONVERGENCE_TOLERANCE)
    analysis.setMaxIterations(MAX_ITERATIONS)
    tool = opensim.AnalyzeTool()
    tool.setName("run")
    tool.setModelFilename("model.osim")
    tool.getAnalysisSet().cloneAndAppend(analysis)
    tool.setCoordinatesFileName(asked["motion"])
    tool.setExternalLoadsFileName(asked["loads"])
    tool.setInitialTime(interval[0])
    tool.setFinalTime(interval[1])
    tool.setSolveForEquilibrium(False)
    tool.setLowpassCutoffFrequency(-1.0)
    tool.setReplaceForceSet(False)
    tool.setResultsDir(".")
    tool.printToXML("setup.xml")
    ready = opensim.AnalyzeTool("setup.xml")
    started = process_time()
    ready.run()
    seconds = process_time() - started
    return seconds, {kind: _table(f"run_sharing_{kind}.sto") for kind in ("activation", "force")}


def _table(path: str) -> dict[str, list[float]]:
    lines = Path(path).read_text().strip("\n").splitlines()
    lines = lines[next(k for k, line in enumerate(lines) if line.strip() == "endheader") + 1 :]
    rows = [[float(word) for word in line.split()] for line in lines[1:]]
    return dict(zip(lines[0].split(), map(list, zip(*rows, strict=True)), strict=True))


if __name__ == "__main__":
    main()
