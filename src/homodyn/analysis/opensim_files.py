"""Files of a result that OpenSim opens: model, motion, ground forces and a tool for its check.

The world of the files has Y up, as OpenSim draws it; coordinates mean the same as in the model.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from homodyn.capture import Table, write_table
from homodyn.errors import HomodynError
from homodyn.foundation.files import write_text
from homodyn.model import Model
from homodyn.model.formats import save
from homodyn.model.formats.osim_coordinates import can_be_in_degrees, osim_coordinates
from homodyn.model.formats.osim_nodes import component, value
from homodyn.model.formats.xml_write import XmlNode, xml_text
from homodyn.model.world_rotation import rotate_world, y_up_rotation
from homodyn.motion import Loads, Motion
from homodyn.motion.coordinate_columns import angular_coordinates

MODEL_FILE = "model.osim"
MOTION_FILE = "motion.mot"
FORCES_FILE = "ground_forces.mot"
EXTERNAL_LOADS_FILE = "external_loads.xml"
TOOL_FILE = "inverse_dynamics.xml"
TOOL_VERSION = "40000"


def write_opensim_motion(motion: Motion, folder: Path, name: str = MOTION_FILE) -> None:
    """Write the coordinates as ``motion.mot``, in degrees where OpenSim converts them.

    Args:
        motion: The motion.
        folder: The folder.
        name: Name of the file.
    """
    model = motion.model
    degrees = can_be_in_degrees(model)
    factors = np.where(angular_coordinates(model) & degrees, np.rad2deg(1.0), 1.0)
    values = osim_coordinates(model, motion.q) * factors
    table = Table(tuple(model.coordinate_names), motion.time, values, degrees, "Coordinates")
    write_table(table, folder / name)


def write_opensim_model(model: Model, folder: Path) -> tuple[str, ...]:
    """Write the model as ``model.osim``, in a world with Y up.

    Args:
        model: The model.
        folder: The folder.

    Returns:
        Sentences on what the file loses, or the reason why it was not written.
    """
    try:
        turned = rotate_world(model, y_up_rotation(model))
        return tuple(f"{MODEL_FILE}: {lost}" for lost in save(turned, folder / MODEL_FILE))
    except HomodynError as error:
        return (f"{MODEL_FILE} is not written: {error}",)


def write_opensim_loads(loads: Loads, folder: Path) -> None:
    """Write ground forces, their ExternalLoads and an InverseDynamicsTool that uses them.

    Args:
        loads: The loads; forces of bodies that nothing touches are zero.
        folder: The folder, which has the model.
    """
    if not (folder / MODEL_FILE).is_file():
        return
    axes = y_up_rotation(loads.motion.model)
    names: list[str] = []
    columns: list[np.ndarray] = []
    objects = []
    for foot in loads.feet:
        vectors = {"force_v": foot.force, "force_p": foot.point, "torque_": foot.torque}
        for kind, rows in vectors.items():
            names += [f"{foot.body}_ground_{kind}{axis}" for axis in "xyz"]
            columns.append(np.nan_to_num(np.asarray(rows, dtype=float)) @ axes.T)
        objects.append(_external_force(foot.body))
    time = loads.motion.time
    if objects:
        table = Table(tuple(names), time, np.hstack(columns), title="ground forces")
        write_table(table, folder / FORCES_FILE)
        content = [XmlNode("objects", {}, objects), value("datafile", FORCES_FILE)]
        _write_document(component("ExternalLoads", "loads", *content), folder / EXTERNAL_LOADS_FILE)
    tool = component(
        "InverseDynamicsTool",
        "inverse_dynamics",
        value("results_directory", "."),
        value("model_file", MODEL_FILE),
        value("time_range", [time[0], time[-1]]),
        # Torques of a result are net values: springs of the model are part of them.
        value("forces_to_exclude", "ALL"),
        value("external_loads_file", EXTERNAL_LOADS_FILE if objects else ""),
        value("coordinates_file", MOTION_FILE),
        value("lowpass_cutoff_frequency_for_coordinates", -1),
        value("output_gen_force_file", "opensim_torques.sto"),
    )
    _write_document(tool, folder / TOOL_FILE)


def _external_force(body: str) -> XmlNode:
    return component(
        "ExternalForce",
        f"ground_on_{body}",
        value("applied_to_body", body),
        value("force_expressed_in_body", "ground"),
        value("point_expressed_in_body", "ground"),
        value("force_identifier", f"{body}_ground_force_v"),
        value("point_identifier", f"{body}_ground_force_p"),
        value("torque_identifier", f"{body}_ground_torque_"),
        value("data_source_name", ""),
    )


def _write_document(node: XmlNode, path: Path) -> None:
    write_text(path, xml_text(XmlNode("OpenSimDocument", {"Version": TOOL_VERSION}, [node])))
