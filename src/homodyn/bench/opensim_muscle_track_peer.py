"""Script that solves muscle-driven problems of a walk with OpenSim Moco, and times them.

Run as ``python -I opensim_muscle_track_peer.py MODEL FORCES PROBLEM DRIVEN``: an ``.osim`` file,
the setup of its external loads, a JSON file, and the file to which the muscle-driven model is
written: muscles of De Groote and Fregly with rigid tendons, and a reserve on each coordinate.
The JSON file has ``kind``: ``"model"`` only writes the model, ``"inverse"`` solves for the muscles
of a prescribed movement, ``"track"`` also for the movement; ``reserves`` (N m or N per unit of
control) by coordinate, ``min_control`` of muscles and ``max_reserve`` (units of control). To solve
it has ``span`` (s), ``intervals``, ``scheme``, ``effort`` (weight of squared controls),
``scale`` (factor of the objective that Moco sees), ``tolerance``, ``constraint_tolerance``,
``differences`` (scheme of finite differences), ``threads``, ``max_iterations``, ``time`` (s), the
coordinates ``q`` by name, and ``guess``: ``time``, ``q``, ``v``, ``reserves`` by coordinate and
``activations`` by muscle.
Prints one JSON object: ``seconds`` of the call that solves, ``processor`` (s), ``success``,
``status``, ``iterations``, ``objective``, and the solution: ``time``, and ``q``, ``v``,
``reserves``, ``activations`` and ``excitations`` by name.
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
    path, forces, problem_file, driven = sys.argv[1:5]
    with open(problem_file, encoding="utf-8") as stream:
        given = json.load(stream)
    model, states = _muscle_driven_model(opensim, path, given)
    model.printToXML(driven)
    if given["kind"] == "model":
        print(json.dumps({}), file=stdout, flush=True)
        return
    model.addModelComponent(opensim.ExternalLoads(forces, True))
    model.finalizeConnections()
    model.initSystem()
    make = _inverse if given["kind"] == "inverse" else _tracking
    # The study of a tool lives as long as the tool.
    study, tool = make(opensim, model, given, states)
    solver = opensim.MocoCasADiSolver.safeDownCast(study.updSolver())
    solver.resetProblem(study.updProblem())
    solver.set_num_mesh_intervals(given["intervals"])
    solver.set_transcription_scheme(given["scheme"])
    solver.set_optim_convergence_tolerance(given["tolerance"])
    solver.set_optim_constraint_tolerance(given["constraint_tolerance"])
    solver.set_optim_finite_difference_scheme(given["differences"])
    solver.set_parallel(given["threads"])
    solver.set_optim_max_iterations(given["max_iterations"])
    solver.set_verbosity(0)
    solver.setGuess(_guess(opensim, solver, given, states))
    start, used = perf_counter(), process_time()
    solution = study.solve()
    seconds, processor = perf_counter() - start, process_time() - used
    solution.unseal()
    muscles = [model.getMuscles().get(k).getName() for k in range(model.getMuscles().getSize())]
    known = set(solution.getStateNames())
    found = {
        "seconds": seconds,
        "processor": processor,
        "success": solution.success(),
        "status": solution.getStatus(),
        "iterations": solution.getNumIterations(),
        "objective": solution.getObjective() / given["scale"],
        "time": _numbers(solution.getTime()),
        "q": {
            n: _numbers(solution.getState(f"{at}/value"))
            for n, at in states.items()
            if f"{at}/value" in known
        },
        "v": {
            n: _numbers(solution.getState(f"{at}/speed"))
            for n, at in states.items()
            if f"{at}/speed" in known
        },
        "reserves": {
            n: [
                given["reserves"][n] * u
                for u in _numbers(solution.getControl(f"/forceset/reserve_{n}"))
            ]
            for n in states
        },
        "activations": {
            n: _numbers(solution.getState(f"/forceset/{n}/activation")) for n in muscles
        },
        "excitations": {n: _numbers(solution.getControl(f"/forceset/{n}")) for n in muscles},
    }
    print(json.dumps(found), file=stdout, flush=True)
    del study, tool


def _muscle_driven_model(
    opensim: Any, path: str, given: dict[str, Any]
) -> tuple[Any, dict[str, str]]:
    """The model with smooth muscles and reserves, and paths of its coordinates."""
    model = opensim.Model(path)
    model.finalizeConnections()
    opensim.DeGrooteFregly2016Muscle.replaceMuscles(model)
    muscles = model.updMuscles()
    for k in range(muscles.getSize()):
        muscle = muscles.get(k)
        muscle.set_ignore_tendon_compliance(True)
        muscle.setMinControl(given["min_control"])
        muscle.setMaxControl(1.0)
    coordinates = model.getCoordinateSet()
    states = {}
    for k in range(coordinates.getSize()):
        coordinate = coordinates.get(k)
        name = coordinate.getName()
        states[name] = coordinate.getAbsolutePathString()
        motor = opensim.CoordinateActuator(name)
        motor.setName(f"reserve_{name}")
        motor.setOptimalForce(given["reserves"][name])
        motor.setMinControl(-given["max_reserve"])
        motor.setMaxControl(given["max_reserve"])
        model.addForce(motor)
    model.finalizeConnections()
    return model, states


def _inverse(
    opensim: Any, model: Any, given: dict[str, Any], states: dict[str, str]
) -> tuple[Any, Any]:
    """The study of MocoInverse, and the tool."""
    inverse = opensim.MocoInverse()
    inverse.setModel(opensim.ModelProcessor(model))
    rows = {f"{states[name]}/value": values for name, values in given["q"].items()}
    inverse.setKinematics(opensim.TableProcessor(_table(opensim, given["time"], rows)))
    inverse.set_initial_time(given["span"][0])
    inverse.set_final_time(given["span"][1])
    inverse.set_mesh_interval((given["span"][1] - given["span"][0]) / given["intervals"])
    study = inverse.initialize()
    goal = study.updProblem().updGoal("excitation_effort")
    goal.setWeight(given["scale"] * given["effort"])
    return study, inverse


def _tracking(
    opensim: Any, model: Any, given: dict[str, Any], states: dict[str, str]
) -> tuple[Any, Any]:
    """Coordinates and controls as terms, as MocoTrack has them."""
    study = opensim.MocoStudy()
    problem = study.updProblem()
    problem.setModelProcessor(opensim.ModelProcessor(model))
    problem.setTimeBounds(*given["span"])
    tracked = opensim.MocoStateTrackingGoal("track", given["scale"])
    rows = {f"{states[name]}/value": values for name, values in given["q"].items()}
    tracked.setReference(opensim.TableProcessor(_table(opensim, given["time"], rows)))
    problem.addGoal(tracked)
    effort = given["scale"] * given["effort"]
    problem.addGoal(opensim.MocoControlGoal("effort", effort))
    problem.addGoal(opensim.MocoInitialActivationGoal("initial_activation"))
    study.initCasADiSolver()
    return study, None


def _guess(opensim: Any, solver: Any, given: dict[str, Any], states: dict[str, str]) -> Any:
    guess = solver.createGuess("bounds")
    initial = given["guess"]
    guess.resample(_vector(opensim, initial["time"]))
    known = set(guess.getStateNames())
    for name, at in states.items():
        if f"{at}/value" in known:
            guess.setState(f"{at}/value", _vector(opensim, initial["q"][name]))
            guess.setState(f"{at}/speed", _vector(opensim, initial["v"][name]))
        strength = given["reserves"][name]
        control = [value / strength for value in initial["reserves"][name]]
        guess.setControl(f"/forceset/reserve_{name}", _vector(opensim, control))
    for name, values in initial["activations"].items():
        guess.setState(f"/forceset/{name}/activation", _vector(opensim, values))
        guess.setControl(f"/forceset/{name}", _vector(opensim, values))
    return guess


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
