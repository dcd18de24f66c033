"""Script that times muscle paths of OpenSim, whose libraries cannot share a process with CasADi.

Run as ``python -I opensim_muscle_peer.py MODEL POSES ROUNDS ARM_STATES``. POSES is a JSON file with
the names of coordinates and their values by state. Prints one JSON object: the seconds per state of
all lengths and of all moment arms of one coordinate.
"""

import json
import sys
from time import process_time


def main() -> None:
    """Time the lengths of all muscles, and their moment arms by coordinate."""
    import opensim

    opensim.Logger.setLevelString("off")
    path, poses_file, rounds, arm_states = sys.argv[1:5]
    with open(poses_file) as file:
        poses = json.load(file)
    model = opensim.Model(path)
    state = model.initSystem()
    found = model.getCoordinateSet()
    coordinates = {found.get(k).getName(): found.get(k) for k in range(found.getSize())}
    for coordinate in coordinates.values():
        coordinate.setLocked(state, False)
    muscles = [model.getMuscles().get(k) for k in range(model.getMuscles().getSize())]
    paths = [muscle.getGeometryPath() for muscle in muscles]

    vectors = []
    for values in poses["values"]:
        for name, value in zip(poses["names"], values, strict=True):
            coordinates[name].setValue(state, value, False)
        vectors.append(opensim.Vector(state.getQ()))

    best = {"lengths": float("inf"), "arms": float("inf")}
    for _ in range(int(rounds)):
        seconds = 0.0
        for vector in vectors:
            start = process_time()
            state.setQ(vector)
            model.realizePosition(state)
            for path_ in paths:
                path_.getLength(state)
            seconds += process_time() - start
        best["lengths"] = min(best["lengths"], seconds / len(vectors))
        seconds, count = 0.0, 0
        for vector in vectors[: int(arm_states)]:
            state.setQ(vector)
            model.realizePosition(state)
            start = process_time()
            for name in poses["arms"]:
                for path_ in paths:
                    path_.computeMomentArm(state, coordinates[name])
            seconds += process_time() - start
            count += len(poses["arms"])
        best["arms"] = min(best["arms"], seconds / count)
    print(json.dumps(best))


if __name__ == "__main__":
    main()
