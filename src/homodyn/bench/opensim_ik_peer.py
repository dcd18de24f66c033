"""Script that times the inverse kinematics of OpenSim, which cannot share a process with CasADi.

Run as ``python -I opensim_ik_peer.py MODEL MARKERS WEIGHTS ROUNDS`` where WEIGHTS is a JSON object
by marker. Prints one JSON object: seconds to assemble the first frame, seconds per tracked frame,
and the mean weighted squared error (m2).
"""

import json
import sys
from time import perf_counter


def main() -> None:
    """Assemble the first frame and track the others; print the best of several rounds."""
    import opensim

    opensim.Logger.setLevelString("off")
    path, markers, rounds = sys.argv[1], sys.argv[2], int(sys.argv[4])
    weights = {name: weight for name, weight in json.loads(sys.argv[3]).items() if weight > 0}
    times = opensim.TimeSeriesTableVec3(markers).getIndependentColumn()
    best = first = float("inf")
    for _ in range(rounds):
        model = opensim.Model(path)
        state = model.initSystem()
        marker_weights = opensim.SetMarkerWeights()
        for name, weight in weights.items():
            marker_weights.cloneAndAppend(opensim.MarkerWeight(name, weight))
        # These objects must outlive the solver, which refers to them.
        reference = opensim.MarkersReference()
        reference.initializeFromMarkersFile(markers, marker_weights)
        none = opensim.SimTKArrayCoordinateReference()
        solver = opensim.InverseKinematicsSolver(model, reference, none)
        solver.setAccuracy(1e-5)
        state.setTime(times[0])
        start = perf_counter()
        solver.assemble(state)
        first = min(first, perf_counter() - start)
        names = [solver.getMarkerNameForIndex(k) for k in range(solver.getNumMarkersInUse())]
        total = 0.0
        seconds = 0.0
        for time in times[1:]:
            state.setTime(time)
            start = perf_counter()
            solver.track(state)
            seconds += perf_counter() - start
            for name in names:
                total += weights.get(name, 1.0) * solver.computeCurrentSquaredMarkerError(name)
        best = min(best, seconds / (len(times) - 1))
        del solver
    print(json.dumps({"first": first, "frame": best, "error": total / (len(times) - 1)}))


if __name__ == "__main__":
    main()
