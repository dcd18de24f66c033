"""OpenSim as an oracle of muscle paths, in a process of its own.

Run as ``python -I opensim_paths.py MODEL REQUEST ANSWER``. The request is a JSON file with the
names of coordinates, their values by state, the coordinates whose moment arms are asked for, the
number of states with arms and, where forces of the tendons are asked for, speeds and activations.
"""

import json
import sys

import opensim


def main():
    """Write lengths and forces (states, muscles) and arms (states, muscles, coordinates)."""
    opensim.Logger.setLevelString("off")
    path, request, answer = sys.argv[1:4]
    with open(request) as file:
        asked = json.load(file)
    model = opensim.Model(path)
    if "speeds" in asked:
        for k in range(model.getMuscles().getSize()):
            model.getMuscles().get(k).set_ignore_tendon_compliance(True)  # forces: rigid tendons
    state = model.initSystem()
    found = model.getCoordinateSet()
    coordinates = {found.get(k).getName(): found.get(k) for k in range(found.getSize())}
    for coordinate in coordinates.values():
        coordinate.setLocked(state, False)
    muscles = [model.getMuscles().get(k) for k in range(model.getMuscles().getSize())]
    lengths, arms, forces = [], [], []
    for number, values in enumerate(asked["values"]):
        for name, value in zip(asked["names"], values, strict=True):
            coordinates[name].setValue(state, value, False)
        if "speeds" in asked:
            for name, speed in zip(asked["names"], asked["speeds"][number], strict=True):
                coordinates[name].setSpeedValue(state, speed)
            for muscle, activation in zip(muscles, asked["activations"][number], strict=True):
                muscle.setActivation(state, activation)
            model.realizeDynamics(state)
            forces.append([muscle.getTendonForce(state) for muscle in muscles])
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
        json.dump({"names": names, "lengths": lengths, "arms": arms, "forces": forces}, file)


if __name__ == "__main__":
    main()
