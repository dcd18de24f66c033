"""OpenSim as an oracle of muscle paths, in a process of its own.

Run as ``python -I opensim_paths.py MODEL REQUEST ANSWER``. The request is a JSON file with the
names of coordinates, their values by state, the coordinates whose moment arms are asked for, and
the number of states with arms.
"""

import json
import sys

import opensim


def main():
    """Write lengths (states, muscles) and arms (states, muscles, coordinates)."""
    opensim.Logger.setLevelString("off")
    path, request, answer = sys.argv[1:4]
    with open(request) as file:
        asked = json.load(file)
    model = opensim.Model(path)
    state = model.initSystem()
    found = model.getCoordinateSet()
    coordinates = {found.get(k).getName(): found.get(k) for k in range(found.getSize())}
    for coordinate in coordinates.values():
        coordinate.setLocked(state, False)
    muscles = [model.getMuscles().get(k) for k in range(model.getMuscles().getSize())]
    lengths, arms = [], []
    for number, values in enumerate(asked["values"]):
        for name, value in zip(asked["names"], values, strict=True):
            coordinates[name].setValue(state, value, False)
        model.realizePosition(state)
        lengths.append([muscle.getLength(state) for muscle in muscles])
        if number < asked["arm_states"]:
            arms.append(
                [
                    [
                        muscle.getGeometryPath().computeMomentArm(state, coordinates[name])
                        for name in asked["arms"]
                    ]
                    for muscle in muscles
                ]
            )
    names = [muscle.getName() for muscle in muscles]
    with open(answer, "w") as file:
        json.dump({"names": names, "lengths": lengths, "arms": arms}, file)


if __name__ == "__main__":
    main()
