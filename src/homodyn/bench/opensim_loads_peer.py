"""Script that times the inverse dynamics of OpenSim for a recorded walk.

Run as ``python -I opensim_loads_peer.py MODEL COORDINATES FORCES CUTOFF ROUNDS``; CUTOFF in Hz.
Prints one JSON object: ``solver``, seconds per frame of the solver with external forces, and
``tool``, seconds per frame of the whole tool including files.
"""

import json
import os
import sys
from time import perf_counter
from typing import Any


def main() -> None:
    """Time the solver and the tool."""
    import opensim

    opensim.Logger.setLevelString("off")
    path, coordinates, setup, cutoff, rounds = sys.argv[1:6]
    # The libraries print to stdout.
    stdout = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    best = {"solver": float("inf"), "tool": float("inf")}
    stored = opensim.Storage(coordinates)
    stored.pad(stored.getSize() // 2)
    stored.lowpassIIR(float(cutoff))
    model = _model_without_muscles(opensim, path)
    if stored.isInDegrees():
        model.initSystem()
        model.getSimbodyEngine().convertDegreesToRadians(stored)
    model.addModelComponent(opensim.ExternalLoads(setup, True))
    state = model.initSystem()
    splines = opensim.GCVSplineSet(5, stored)
    functions = [splines.get(name) for name in _in_order(model, state)]
    unfiltered = opensim.Storage(coordinates)
    times = opensim.ArrayDouble()
    unfiltered.getTimeColumn(times)
    instants = [times.get(k) for k in range(times.getSize())]
    solver = opensim.InverseDynamicsSolver(model)
    order = [opensim.StdVectorInt([0] * n) for n in (1, 2)]
    poses = []
    for instant in instants:
        at = opensim.Vector(1, instant)
        rows = [opensim.Vector(len(functions), 0.0) for _ in range(3)]
        for k, function in enumerate(functions):
            rows[0].set(k, function.calcValue(at))
            rows[1].set(k, function.calcDerivative(order[0], at))
            rows[2].set(k, function.calcDerivative(order[1], at))
        poses.append((instant, *rows))
    for _ in range(int(rounds)):
        start = perf_counter()
        for instant, q, u, udot in poses:
            state.setTime(instant)
            state.setQ(q)
            state.setU(u)
            solver.solve(state, udot)
        best["solver"] = min(best["solver"], (perf_counter() - start) / len(poses))
        start = perf_counter()
        _tool(opensim, path, coordinates, setup, float(cutoff), instants)
        best["tool"] = min(best["tool"], (perf_counter() - start) / len(poses))
    print(json.dumps(best), file=stdout, flush=True)


def _model_without_muscles(opensim: Any, path: str) -> Any:
    """The model with its muscles disabled, as in the tool."""
    model = opensim.Model(path)
    muscles = model.getMuscles()
    for k in range(muscles.getSize()):
        muscles.get(k).set_appliesForce(False)
    return model


def _in_order(model: Any, state: Any) -> list[str]:
    """Names of the coordinates in the order of the state, identified by distinct values."""
    coordinates = model.getCoordinateSet()
    for k in range(coordinates.getSize()):
        coordinates.get(k).setValue(state, 0.001 * (k + 1), False)
    marks = [round(state.getQ().get(k) / 0.001) - 1 for k in range(coordinates.getSize())]
    return [coordinates.get(k).getName() for k in marks]


def _tool(
    opensim: Any, path: str, coordinates: str, setup: str, cutoff: float, instants: list[float]
) -> None:
    tool = opensim.InverseDynamicsTool()
    model = opensim.Model(path)
    tool.setModel(model)
    tool.setCoordinatesFileName(coordinates)
    tool.setLowpassCutoffFrequency(cutoff)
    tool.setExternalLoadsFileName(setup)
    tool.setStartTime(instants[0])
    tool.setEndTime(instants[-1])
    excluded = opensim.ArrayStr()
    excluded.append("Muscles")
    tool.setExcludedForces(excluded)
    tool.setResultsDir(".")
    tool.setOutputGenForceFileName("loads.sto")
    tool.run()


if __name__ == "__main__":
    main()
