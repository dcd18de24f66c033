"""Contact forces by OpenSim, in a process of its own: its libraries and CasADi's cannot share one.

``opensim_contact_peer.py model.osim states.json`` prints one object per state: for every contact
force the values that OpenSim records, by their labels.
"""

import json
import sys

import opensim

KINDS = ("SmoothSphereHalfSpaceForce", "HuntCrossleyForce")


def main(path, states):
    opensim.Logger.setLevelString("off")
    model = opensim.Model(path)
    state = model.initSystem()
    forces = model.getForceSet()
    chosen = [
        forces.get(k)
        for k in range(forces.getSize())
        if forces.get(k).getConcreteClassName() in KINDS
    ]
    rows = []
    with open(states, encoding="utf-8") as file:
        given = json.load(file)
    coordinates = model.getCoordinateSet()
    for each in given:
        for k in range(coordinates.getSize()):
            coordinate = coordinates.get(k)
            name = coordinate.getName()
            if name in each["q"]:
                coordinate.setLocked(state, False)
                coordinate.setValue(state, each["q"][name], False)
                coordinate.setSpeedValue(state, each["v"][name])
        model.realizeDynamics(state)
        row = {}
        for force in chosen:
            labels, values = force.getRecordLabels(), force.getRecordValues(state)
            row |= {
                labels.get(i).replace(".ground.", ".HalfSpace."): values.get(i)
                for i in range(values.size())
            }
        rows.append(row)
    print(json.dumps(rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
