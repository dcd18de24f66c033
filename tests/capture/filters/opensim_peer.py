"""OpenSim's filter and spline, in a process of its own: its libraries and CasADi cannot share one.

Reads one JSON object, ``{"time": [...], "values": [[...]], "cutoff": 6.0}``, and writes one with
what ``Storage`` makes of it.
"""

import json
import sys

import opensim


def storage(time, values):
    """A Storage with one row per instant."""
    stored = opensim.Storage()
    labels = opensim.ArrayStr()
    for label in ("time", *(f"column{k}" for k in range(len(values[0])))):
        labels.append(label)
    stored.setColumnLabels(labels)
    for instant, row in zip(time, values, strict=True):
        states = opensim.Vector(len(row), 0.0)
        for k, number in enumerate(row):
            states.set(k, number)
        state = opensim.StateVector()
        state.setStates(instant, states)
        stored.append(state)
    return stored


def rows(stored):
    """All values of a Storage."""
    width = stored.getStateVector(0).getData().getSize()
    return [
        [stored.getStateVector(i).getData().get(k) for k in range(width)]
        for i in range(stored.getSize())
    ]


def splined(stored, times):
    """Value, first and second derivative of each column at the instants."""
    splines = opensim.GCVSplineSet(5, stored)
    orders = [opensim.StdVectorInt([0] * order) for order in (1, 2)]
    found = []
    for time in times:
        at = opensim.Vector(1, time)
        found.append(
            [
                [
                    splines.get(k).calcValue(at),
                    *(splines.get(k).calcDerivative(order, at) for order in orders),
                ]
                for k in range(splines.getSize())
            ]
        )
    return found


def main():
    """Answer one request."""
    opensim.Logger.setLevelString("off")
    request = json.loads(sys.stdin.read())
    time, values, cutoff = request["time"], request["values"], request["cutoff"]
    bare = storage(time, values)
    bare.lowpassIIR(cutoff)
    padded = storage(time, values)
    padded.pad(padded.getSize() // 2)
    padded.lowpassIIR(cutoff)
    pad = (padded.getSize() - len(time)) // 2
    answer = {
        "bare": rows(bare),
        "filtered": rows(padded)[pad : pad + len(time)],
        "followed": splined(padded, time),
        "splined": splined(storage(time, values), time),
    }
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
