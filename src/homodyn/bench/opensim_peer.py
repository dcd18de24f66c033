"""Script that times OpenSim, whose libraries cannot share a process with CasADi.

Run as ``python -I opensim_peer.py MODEL ROUNDS STATES``; prints one JSON object of seconds.
"""

import json
import sys
from time import perf_counter


def main() -> None:
    """Time loading, the first inverse dynamics, and inverse dynamics of many states."""
    import opensim

    opensim.Logger.setLevelString("off")
    path, rounds, states = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    best = {"load": float("inf"), "first": float("inf"), "state": float("inf")}
    for _ in range(rounds):
        start = perf_counter()
        model = opensim.Model(path)
        _disable_muscles(model)
        state = model.initSystem()
        loaded = perf_counter()
        solver = opensim.InverseDynamicsSolver(model)
        solver.solve(state, opensim.Vector(state.getNU(), 0.0))
        evaluated = perf_counter()
        best["load"] = min(best["load"], loaded - start)
        best["first"] = min(best["first"], evaluated - start)
    count = state.getNQ()
    initial = [state.getQ().get(k) for k in range(count)]
    poses = []
    for n in range(states):
        pose = opensim.Vector(count, 0.0)
        for k in range(count):
            pose.set(k, initial[k] + 0.02 * ((n * 7 + k * 13) % 17 - 8) / 8)
        poses.append(pose)
    rates = opensim.Vector(state.getNU(), 0.5)
    for _ in range(rounds):
        start = perf_counter()
        for pose in poses:
            state.setQ(pose)
            state.setU(rates)
            solver.solve(state, rates)
        best["state"] = min(best["state"], (perf_counter() - start) / states)
    print(json.dumps(best))


def _disable_muscles(model: object) -> None:
    """Disable the muscles, as the inverse dynamics tool of OpenSim does."""
    muscles = model.getMuscles()  # type: ignore[attr-defined]
    for k in range(muscles.getSize()):
        muscles.get(k).set_appliesForce(False)


if __name__ == "__main__":
    main()
