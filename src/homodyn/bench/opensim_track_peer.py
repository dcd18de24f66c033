"""Script that solves and times a torque-driven tracking problem with OpenSim Moco.

Run as ``python -I opensim_track_peer.py MODEL FORCES PROBLEM``: an ``.osim`` file, the setup of its
external loads, and a JSON file with ``span`` (s), ``intervals``, ``scheme`` (transcription),
``effort`` (weight of squared controls), ``strength`` (N m or N per unit of control),
``max_control``, ``tolerance``, ``threads``, ``time`` (s), the coordinates ``q`` to track by name,
and ``guess``: ``time`` over the span, ``q``, ``v`` and ``tau`` by name.
Prints one JSON object: ``seconds`` of the call that solves, ``processor`` (processor time, s),
``success``, ``status``, ``iterations``, ``objective``, and the solution: ``time``, ``q``, ``v`` and
``tau`` by name.
"""

import json
import os
import sys
from time import perf_counter, process_time
from typing import Any


def main() -> None:
    """State the study, solve it and print the solution."""
    import opensim

    opensim.Logger.setLevelString("off")
    # The libraries print to stdout.
    stdout = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    path, forces, problem_file = sys.argv[1:4]
    with open(problem_file, encoding="utf-8") as stream:
        given = json.load(stream)
    model, states = _torque_driven_model(
        opensim, path, forces, given["strength"], given["max_control"]
    )
    study = opensim.MocoStudy()
    problem = study.updProblem()
    problem.setModelProcessor(opensim.ModelProcessor(model))
    problem.setTimeBounds(*given["span"])
    tracked = opensim.MocoStateTrackingGoal("track", 1.0)
    rows = {f"{states[name]}/value": values for name, values in given["q"].items()}
    tracked.setReference(opensim.TableProcessor(_table(opensim, given["time"], rows)))
    problem.addGoal(tracked)
    problem.addGoal(opensim.MocoControlGoal("effort", given["effort"]))
    solver = study.initCasADiSolver()
    solver.set_num_mesh_intervals(given["intervals"])
    solver.set_transcription_scheme(given["scheme"])
    solver.set_optim_convergence_tolerance(given["tolerance"])
    solver.set_optim_constraint_tolerance(given["tolerance"])
    solver.set_parallel(given["threads"])
    solver.set_verbosity(0)
    guess = solver.createGuess("bounds")
    initial = given["guess"]
    guess.resample(_vector(opensim, initial["time"]))
    for name, at in states.items():
        guess.setState(f"{at}/value", _vector(opensim, initial["q"][name]))
        guess.setState(f"{at}/speed", _vector(opensim, initial["v"][name]))
        control = [value / given["strength"] for value in initial["tau"][name]]
        guess.setControl(f"/forceset/tau_{name}", _vector(opensim, control))
    solver.setGuess(guess)
    start, used = perf_counter(), process_time()
    solution = study.solve()
    seconds, processor = perf_counter() - start, process_time() - used
    solution.unseal()
    found = {
        "seconds": seconds,
        "processor": processor,
        "success": solution.success(),
        "status": solution.getStatus(),
        "iterations": solution.getNumIterations(),
        "objective": solution.getObjective(),
        "time": _numbers(solution.getTime()),
        "q": {n: _numbers(solution.getState(f"{at}/value")) for n, at in states.items()},
        "v": {n: _numbers(solution.getState(f"{at}/speed")) for n, at in states.items()},
        "tau": {
            name: [
                given["strength"] * u
                for u in _numbers(solution.getControl(f"/forceset/tau_{name}"))
            ]
            for name in states
        },
    }
    print(json.dumps(found), file=stdout, flush=True)


def _torque_driven_model(
    opensim: Any, path: str, forces: str, strength: float, max_control: float
) -> tuple[Any, dict[str, str]]:
    """The model with a motor on each coordinate instead of muscles, and paths of coordinates."""
    model = opensim.Model(path)
    model.updForceSet().clearAndDestroy()
    model.initSystem()
    coordinates = model.getCoordinateSet()
    states = {}
    for k in range(coordinates.getSize()):
        coordinate = coordinates.get(k)
        name = coordinate.getName()
        states[name] = coordinate.getAbsolutePathString()
        motor = opensim.CoordinateActuator(name)
        motor.setName(f"tau_{name}")
        motor.setOptimalForce(strength)
        motor.setMinControl(-max_control)
        motor.setMaxControl(max_control)
        model.addForce(motor)
    model.addModelComponent(opensim.ExternalLoads(forces, True))
    model.finalizeConnections()
    return model, states


def _table(opensim: Any, time: list[float], columns: dict[str, list[float]]) -> Any:
    table = opensim.TimeSeriesTable()
    table.setColumnLabels(list(columns))
    for k, instant in enumerate(time):
        row = opensim.RowVector(len(columns), 0.0)
        for n, values in enumerate(columns.values()):
            row[n] = values[k]
        table.appendRow(instant, row)
    table.addTableMetaDataString("inDegrees", "no")
    return table


def _vector(opensim: Any, values: list[float]) -> Any:
    vector = opensim.Vector(len(values), 0.0)
    for k, value in enumerate(values):
        vector[k] = value
    return vector


def _numbers(values: Any) -> list[float]:
    return [float(values[k]) for k in range(values.size())]


if __name__ == "__main__":
    main()
