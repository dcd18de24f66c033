"""Devices on people: topologies of wearable robots, their checks, and the search for the best."""

from homodyn.codesign.cuff_force import CuffForces, cuff_force_series
from homodyn.codesign.design import Design, load_design
from homodyn.codesign.design_check import DesignChecks, DesignVerdict, check_designs
from homodyn.codesign.design_space import DesignBounds, DesignSpace
from homodyn.codesign.design_study import DesignEvaluation, DesignStudy
from homodyn.codesign.design_study import DesignStudy as Study
from homodyn.codesign.device import Device, DeviceJoint, attach_device
from homodyn.codesign.drawing import draw_topologies
from homodyn.codesign.drive import DriveBounds
from homodyn.codesign.link_inertia import Construction
from homodyn.codesign.linkage import Linkage
from homodyn.codesign.passive_element import PassiveElement
from homodyn.codesign.study_file import BUNDLED_DESIGN_STUDIES, load_design_study
from homodyn.codesign.topology import Topology, topologies
from homodyn.codesign.walking import WalkingOutcome, WalkingTask

__all__ = [
    "BUNDLED_DESIGN_STUDIES",
    "Construction",
    "CuffForces",
    "Design",
    "DesignBounds",
    "DesignChecks",
    "DesignEvaluation",
    "DesignSpace",
    "DesignStudy",
    "DesignVerdict",
    "Device",
    "DeviceJoint",
    "DriveBounds",
    "Linkage",
    "PassiveElement",
    "Study",
    "Topology",
    "WalkingOutcome",
    "WalkingTask",
    "attach_device",
    "check_designs",
    "cuff_force_series",
    "draw_topologies",
    "load_design",
    "load_design_study",
    "topologies",
]
