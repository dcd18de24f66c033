"""Tables as OpenSim reads them, in JSON; it cannot share a process with CasADi."""

import json
import sys

import opensim


def vectors(path: str) -> dict:
    table = opensim.TimeSeriesTableVec3(path)
    count = table.getNumColumns()
    rows = [table.getRowAtIndex(row) for row in range(table.getNumRows())]
    return {
        "names": list(table.getColumnLabels()),
        "time": list(table.getIndependentColumn()),
        "values": [[[row[k][axis] for axis in range(3)] for k in range(count)] for row in rows],
    }


def numbers(path: str) -> dict:
    table = opensim.TimeSeriesTable(path)
    return {
        "names": list(table.getColumnLabels()),
        "time": list(table.getIndependentColumn()),
        "values": [
            table.getRowAtIndex(row).to_numpy().tolist() for row in range(table.getNumRows())
        ],
        "degrees": opensim.Storage(path).isInDegrees(),
    }


if __name__ == "__main__":
    opensim.Logger.setLevelString("error")
    answers = [vectors(path) if path.endswith(".trc") else numbers(path) for path in sys.argv[1:]]
    print(json.dumps(answers))
