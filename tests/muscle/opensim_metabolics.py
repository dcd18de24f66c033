"""OpenSim as an oracle of metabolic power, in a process of its own.

Run as ``python -I opensim_metabolics.py MODEL REQUEST ANSWER``. The request has poses, speeds,
activations and excitations by state, and sets of properties of the smoothed Bhargava component
("bhargava") and the Umberger probe ("umberger"). Tendons are rigid.
"""

import json
import sys

import opensim


def add_costs(model, muscles, asked):
    """One Bhargava component per muscle and set, and one probe per set for all muscles."""
    costs = []
    for properties in asked["bhargava"]:
        own = []
        for muscle in muscles:
            cost = opensim.Bhargava2004SmoothedMuscleMetabolics()
            cost.setName(f"cost_{len(costs)}_{muscle.getName()}")
            set_properties(cost, properties)
            cost.addMuscle(muscle.getName(), muscle, 0.4, 0.3e6, float("nan"))
            model.addComponent(cost)
            own.append(cost)
        costs.append(own)
    probes = []
    for properties in asked["umberger"]:
        probe = opensim.Umberger2010MuscleMetabolicsProbe()
        probe.setName(f"probe_{len(probes)}")
        set_properties(probe, {**properties, "report_total_metabolics_only": False})
        model.addProbe(probe)
        for muscle in muscles:
            probe.addMuscle(muscle.getName(), 0.4)
        probes.append(probe)
    return costs, probes


def set_properties(component, properties):
    """Set properties by name."""
    for name, value in properties.items():
        getattr(component, f"set_{name}")(value)


def main():
    """Write one table for each quantity."""
    opensim.Logger.setLevelString("off")
    path, request, answer = sys.argv[1:4]
    with open(request) as file:
        asked = json.load(file)
    model = opensim.Model(path)
    model.finalizeFromProperties()
    model.finalizeConnections()
    muscles = [model.getMuscles().get(k) for k in range(model.getMuscles().getSize())]
    for muscle in muscles:
        if muscle.getConcreteClassName() != "Thelen2003Muscle":  # has no rigid tendon there
            muscle.set_ignore_tendon_compliance(True)
    costs, probes = add_costs(model, muscles, asked)
    state = model.initSystem()
    found = model.getCoordinateSet()
    coordinates = {found.get(k).getName(): found.get(k) for k in range(found.getSize())}
    for coordinate in coordinates.values():
        coordinate.setLocked(state, False)
    tables = {"bhargava": [], "umberger": [], "total": [], "inputs": []}
    for number, values in enumerate(asked["values"]):
        for name, value, speed in zip(asked["names"], values, asked["speeds"][number], strict=True):
            coordinates[name].setValue(state, value, False)
            coordinates[name].setSpeedValue(state, speed)
        controls = opensim.Vector(model.getNumControls(), 0.0)
        for k, muscle in enumerate(muscles):
            muscle.setActivation(state, asked["activations"][number][k])
            control = opensim.Vector(1, asked["excitations"][number][k])
            muscle.addInControls(control, controls)
        model.realizeVelocity(state)
        model.setControls(state, controls)
        model.realizeDynamics(state)
        tables["bhargava"].append(
            [
                [
                    [
                        cost.getTotalActivationRate(state),
                        cost.getTotalMaintenanceRate(state),
                        cost.getTotalShorteningRate(state),
                        cost.getTotalMechanicalWorkRate(state),
                    ]
                    for cost in own
                ]
                for own in costs
            ]
        )
        tables["total"].append([[c.getTotalMetabolicRate(state) for c in own] for own in costs])
        rows = []
        for probe in probes:
            outputs = probe.computeProbeInputs(state)
            rows.append([outputs.get(k) for k in range(outputs.size())])
        tables["umberger"].append(rows)
        tables["inputs"].append(
            [
                [
                    m.getActivation(state),
                    m.getControl(state),
                    m.getNormalizedFiberLength(state),
                    m.getFiberVelocity(state),
                    m.getActiveFiberForce(state),
                    m.getPassiveFiberForce(state),
                    m.getActiveForceLengthMultiplier(state),
                ]
                for m in muscles
            ]
        )
    tables["names"] = [muscle.getName() for muscle in muscles]
    tables["mass"] = model.getTotalMass(state)
    with open(answer, "w") as file:
        json.dump(tables, file)


if __name__ == "__main__":
    main()
