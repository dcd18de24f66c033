"""Script that times muscle paths of OpenSim, whose libraries cannot share a process with CasADi.

Run as ``python -I opensim_muscle_peer.py MODEL POSES ROUNDS ARM_STATES``. POSES is a JSON file with
the names of coordinates, their values by state, and one activation. Prints one JSON
object: the seconds per state of all lengths, of all moment arms of one coordinate, and of the
forces of all muscles with rigid tendons.
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
    muscles = [model.getMuscles().get(k) for k in range(model.getMuscles().getSize())]
    for muscle in muscles:
        muscle.set_ignore_tendon_compliance(True)
    state = model.initSystem()
    found = model.getCoordinateSet()
    coordinates = {found.get(k).getName(): found.get(k) for k in range(found.getSize())}
    for coordinate in coordinates.values():
        coordinate.setLocked(state, False)
    paths = [muscle.getGeometryPath() for muscle in muscles]

    vectors = []
    for values in poses["values"]:
        for name, value in zip(poses["names"], values, strict=True):
            coordinates[name].setValue(state, value, False)
        vectors.append(opensim.Vector(state.getQ()))

    speeds = opensim.Vector(state.getNU(), 0.3)
    best = dict.fromkeys(("lengths", "arms", "forces"), float("inf"))
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
        seconds = 0.0
        for muscle in muscles:
            muscle.setActivation(state, poses["activation"])
        for vector in vectors:
            start = process_time()
            state.setQ(vector)
            state.setU(speeds)
            model.realizeVelocity(state)
            for muscle in muscles:
                muscle.getTendonForce(state)
            seconds += process_time() - start
        best["forces"] = min(best["forces"], seconds / len(vectors))
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
