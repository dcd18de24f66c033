"""A model with paths over all kinds of wrap objects, and OpenSim as their oracle."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import homodyn as hd
from support.opensim_process import opensim

__all__ = ["opensim"]

SCRIPT = Path(__file__).with_name("opensim_paths.py")
MUSCLE_SCRIPT = Path(__file__).with_name("opensim_muscles.py")


@pytest.fixture(scope="session")
def wraps_file():
    return Path(__file__).with_name("wraps.osim")


@pytest.fixture(scope="session")
def wraps_model(wraps_file):
    return hd.load(wraps_file)


@pytest.fixture(scope="session")
def opensim_paths(tmp_path_factory):
    """Lengths, moment arms and forces of OpenSim, in the order of our muscles and coordinates."""
    if importlib.util.find_spec("opensim") is None:
        pytest.skip("opensim is not installed")

    def ask(file, model, states, arm_states, speeds=None, activations=None):
        folder = tmp_path_factory.mktemp("opensim")
        values = {name: states[:, k] for k, name in enumerate(model.coordinate_names)}
        for coupler in model.couplers:
            values[coupler.coordinate] = coupler.function.value(values[coupler.of])
        request = {
            "names": list(values),
            "values": np.array(list(values.values())).T.tolist(),
            "arms": model.coordinate_names,
            "arm_states": arm_states,
        }
        if speeds is not None:
            rates = {name: speeds[:, k] for k, name in enumerate(model.coordinate_names)}
            for one in model.couplers:
                rates[one.coordinate] = one.function.slope(values[one.of]) * rates[one.of]
            request["speeds"] = np.array([rates[name] for name in values]).T.tolist()
            request["activations"] = activations.tolist()
        (folder / "request.json").write_text(json.dumps(request))
        command = [sys.executable, "-I", str(SCRIPT), str(Path(file).resolve())]
        subprocess.run([*command, "request.json", "answer.json"], cwd=folder, check=True)
        answer = json.loads((folder / "answer.json").read_text())
        order = [answer["names"].index(muscle.name) for muscle in model.muscles]
        arms = np.array(answer["arms"])
        lengths, forces = np.array(answer["lengths"]), np.array(answer["forces"])
        if speeds is not None:
            return forces[:, order]
        return lengths[:, order], arms[:, order] if arm_states else arms

    return ask


@pytest.fixture(scope="session")
def opensim_muscles(tmp_path_factory):
    """Muscles of OpenSim at given states: one table (states, muscles) for each quantity."""
    if importlib.util.find_spec("opensim") is None:
        pytest.skip("opensim is not installed")

    def ask(file, model, states, speeds, activations, **request):
        folder = tmp_path_factory.mktemp("opensim")
        names = list(model.coordinate_names)
        values = {name: states[:, k] for k, name in enumerate(names)}
        rates = {name: speeds[:, k] for k, name in enumerate(names)}
        for one in model.couplers:
            values[one.coordinate] = one.function.value(values[one.of])
            rates[one.coordinate] = one.function.slope(values[one.of]) * rates[one.of]
        request |= {
            "names": list(values),
            "values": np.array(list(values.values())).T.tolist(),
            "speeds": np.array([rates[name] for name in values]).T.tolist(),
            "activations": activations.tolist(),
        }
        (folder / "request.json").write_text(json.dumps(request))
        command = [sys.executable, "-I", str(MUSCLE_SCRIPT), str(Path(file).resolve())]
        subprocess.run([*command, "request.json", "answer.json"], cwd=folder, check=True)
        answer = json.loads((folder / "answer.json").read_text())
        names = answer.pop("names")
        order = [names.index(muscle.name) for muscle in model.muscles]
        return {name: np.array(table)[:, order] for name, table in answer.items()}

    return ask
