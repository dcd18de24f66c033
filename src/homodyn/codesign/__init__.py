"""Devices on people: topologies of wearable robots, their bodies and loops, and their checks."""

from homodyn.codesign.design import Design, load_design
from homodyn.codesign.design_check import DesignChecks, DesignVerdict, check_designs
from homodyn.codesign.device import Device, DeviceJoint, attach_device
from homodyn.codesign.drawing import draw_topologies
from homodyn.codesign.link_inertia import Construction
from homodyn.codesign.linkage import Linkage
from homodyn.codesign.topology import Topology, topologies

__all__ = [
    "Construction",
    "Design",
    "DesignChecks",
    "DesignVerdict",
    "Device",
    "DeviceJoint",
    "Linkage",
    "Topology",
    "attach_device",
    "check_designs",
    "draw_topologies",
    "load_design",
    "topologies",
]
