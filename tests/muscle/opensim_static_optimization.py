"""OpenSim's StaticOptimization and JointReaction, in a process of their own.

Run as ``python -I opensim_static_optimization.py REQUEST`` in a folder of its own. The request is a
JSON file with the model, a table of coordinates, reserve strengths by coordinate, the interval, and
where ground forces act an ExternalLoads file. It has either a table of forces, for joint reactions
in the frame and on the body that it names, or the power and whether forces depend on length and
speed, for static optimization. The folder receives the tables that OpenSim writes.
"""

import json
import sys

import opensim

CONVERGENCE = 1e-7
MAX_ITERATIONS = 500
MAX_CONTROL = 1e6


def main():
    """Run one analysis."""
    opensim.Logger.setLevelString("off")
    with open(sys.argv[1]) as file:
        asked = json.load(file)
    model = opensim.Model(asked["model"])
    for name, strength in asked["reserves"].items():
        actuator = opensim.CoordinateActuator(name)
        actuator.setName(f"reserve_{name}")
        actuator.setOptimalForce(strength)
        actuator.setMinControl(-MAX_CONTROL)
        actuator.setMaxControl(MAX_CONTROL)
        model.addForce(actuator)
    model.printToXML("model.osim")
    tool = opensim.AnalyzeTool()
    tool.setName("run")
    tool.setModelFilename("model.osim")
    tool.getAnalysisSet().cloneAndAppend(joint_reaction(asked) or static_optimization(asked))
    tool.setCoordinatesFileName(asked["motion"])
    if asked["loads"]:
        tool.setExternalLoadsFileName(asked["loads"])
    tool.setInitialTime(asked["interval"][0])
    tool.setFinalTime(asked["interval"][1])
    tool.setSolveForEquilibrium(False)
    tool.setLowpassCutoffFrequency(-1.0)
    tool.setReplaceForceSet(False)
    tool.setResultsDir(".")
    tool.printToXML("setup.xml")
    opensim.AnalyzeTool("setup.xml").run()


def static_optimization(asked):
    """The analysis of muscle activations."""
    analysis = opensim.StaticOptimization()
    analysis.setName("activations")
    analysis.setUseModelForceSet(True)
    analysis.setActivationExponent(asked["power"])
    analysis.setUseMusclePhysiology(asked["force_length_velocity"])
    analysis.setConvergenceCriterion(CONVERGENCE)
    analysis.setMaxIterations(MAX_ITERATIONS)
    return analysis


def joint_reaction(asked):
    """The analysis of joint reactions; None without a table of forces."""
    if "forces" not in asked:
        return None
    analysis = opensim.JointReaction()
    analysis.setName("reactions")
    analysis.setForcesFileName(asked["forces"])
    analysis.setInFrame(opensim.ArrayStr(asked["frame"], 1))
    analysis.setOnBody(opensim.ArrayStr(asked["on"], 1))
    return analysis


if __name__ == "__main__":
    main()
