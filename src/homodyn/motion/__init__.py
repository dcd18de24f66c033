"""The records that flow: movements, loads, contact forces, force plates, events and sides.

Inverse kinematics, simulation, optimal control, synthetic trials and networks all return a
`Motion`, so that measures, margins, reports, exporters and the studio work on any movement.
"""

from homodyn.model.side import Side, side_of
from homodyn.motion.anatomical_axes import Axes
from homodyn.motion.contact_force import ContactForce
from homodyn.motion.event import Event
from homodyn.motion.force_plate import ForcePlate, PlateChannels
from homodyn.motion.loads import Loads
from homodyn.motion.motion import FitStatus, Motion, MotionSource, motion_from_poses
from homodyn.motion.stance_threshold import STANCE_THRESHOLD, StanceThreshold

__all__ = [
    "STANCE_THRESHOLD",
    "Axes",
    "ContactForce",
    "Event",
    "FitStatus",
    "ForcePlate",
    "Loads",
    "Motion",
    "MotionSource",
    "PlateChannels",
    "Side",
    "StanceThreshold",
    "motion_from_poses",
    "side_of",
]
