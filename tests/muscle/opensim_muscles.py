"""OpenSim as an oracle of muscle-tendon models, in a process of its own.

Run as ``python -I opensim_muscles.py MODEL REQUEST ANSWER``. The request is a JSON file with the
names of coordinates, their values and speeds, all activations by state, and ``tendon``:
"rigid", "compliant", or "file" as the file states. Compliant muscles are set to the fiber lengths
of the request where it has some, else they are equilibrated.
"""

import json
import sys

import opensim


def read(muscle, state):
    """What is compared, at one state."""
    return {
        "length": muscle.getLength(state),
        "speed": muscle.getLengtheningSpeed(state),
        "force": muscle.getTendonForce(state),
        "fiber_length": muscle.getFiberLength(state),
        "fiber_speed": muscle.getFiberVelocity(state),
        "active": muscle.calcInextensibleTendonActiveFiberForce(state, 1.0),
    }


def set_fiber_length(muscle, state, length):
    """Set the state of a compliant muscle."""
    if muscle.get_ignore_tendon_compliance():
        return
    names = [muscle.getStateVariableNames().get(k) for k in range(muscle.getNumStateVariables())]
    if any(name.endswith("fiber_length") for name in names):
        muscle.setStateVariableValue(state, "fiber_length", length)


def main():
    """Write one table (states, muscles) for each quantity."""
    opensim.Logger.setLevelString("off")
    path, request, answer = sys.argv[1:4]
    with open(request) as file:
        asked = json.load(file)
    model = opensim.Model(path)
    muscles = [model.getMuscles().get(k) for k in range(model.getMuscles().getSize())]
    if asked["tendon"] != "file":
        for muscle in muscles:
            if muscle.getConcreteClassName() != "Thelen2003Muscle":  # has no rigid tendon there
                muscle.set_ignore_tendon_compliance(asked["tendon"] == "rigid")
    state = model.initSystem()
    found = model.getCoordinateSet()
    coordinates = {found.get(k).getName(): found.get(k) for k in range(found.getSize())}
    for coordinate in coordinates.values():
        coordinate.setLocked(state, False)
    tables = {}
    for number, values in enumerate(asked["values"]):
        for name, value, speed in zip(asked["names"], values, asked["speeds"][number], strict=True):
            coordinates[name].setValue(state, value, False)
            coordinates[name].setSpeedValue(state, speed)
        for muscle, activation in zip(muscles, asked["activations"][number], strict=True):
            muscle.setActivation(state, activation)
        if "fiber_lengths" in asked:
            for muscle, length in zip(muscles, asked["fiber_lengths"][number], strict=True):
                set_fiber_length(muscle, state, length)
        else:
            for muscle in muscles:
                try:
                    muscle.computeEquilibrium(state)
                except RuntimeError:
                    set_fiber_length(muscle, state, float("nan"))
        model.realizeDynamics(state)
        rows = [read(muscle, state) for muscle in muscles]
        for name in rows[0]:
            tables.setdefault(name, []).append([row[name] for row in rows])
    tables["names"] = [muscle.getName() for muscle in muscles]
    with open(answer, "w") as file:
        json.dump(tables, file)


if __name__ == "__main__":
    main()
