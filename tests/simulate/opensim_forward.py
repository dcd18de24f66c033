"""Forward simulation of muscles by OpenSim, in a process of its own.

Run as ``python -I opensim_forward.py MODEL REQUEST ANSWER``. The request is a JSON file with the
slack lengths of the muscles that act, coordinates with their values, the excitation, the activation
at the start, and the duration.
"""

import json
import sys

import opensim


def main():
    """Write the coordinates and the fiber lengths at the end."""
    opensim.Logger.setLevelString("off")
    path, request, answer = sys.argv[1:4]
    with open(request) as file:
        asked = json.load(file)
    model = opensim.Model(path)
    forces = model.updForceSet()
    for k in range(forces.getSize()):
        forces.get(k).set_appliesForce(forces.get(k).getName() in asked["muscles"])
    controller = opensim.PrescribedController()
    muscles = [model.getMuscles().get(name) for name in asked["muscles"]]
    for muscle, length in zip(muscles, asked["muscles"].values(), strict=True):
        muscle.set_tendon_slack_length(length)
        controller.addActuator(muscle)
        constant = opensim.Constant(asked["excitation"])
        controller.prescribeControlForActuator(muscle.getName(), constant)
    model.addController(controller)
    model.finalizeConnections()
    state = model.initSystem()
    for name, value in asked["coordinates"].items():
        model.getCoordinateSet().get(name).setValue(state, value)
    for muscle in muscles:
        muscle.setActivation(state, asked["activation"])
        muscle.computeEquilibrium(state)
    manager = opensim.Manager(model)
    manager.setIntegratorAccuracy(1e-9)
    state.setTime(0)
    manager.initialize(state)
    state = manager.integrate(asked["duration"])
    model.realizeDynamics(state)
    found = {
        "q": {n: model.getCoordinateSet().get(n).getValue(state) for n in asked["coordinates"]},
        "fibers": [muscle.getFiberLength(state) for muscle in muscles],
        "activation": [muscle.getActivation(state) for muscle in muscles],
    }
    with open(answer, "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main()
