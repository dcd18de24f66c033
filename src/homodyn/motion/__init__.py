"""The records that flow: movements, loads, contact forces, force plates, events, sides and scenes.

Inverse kinematics, simulation, optimal control, synthetic trials and networks all return a
`Motion`, so that measures, margins, reports, exporters and the studio work on any movement.
Balance, simulation and planning share one `Scene`; its supports are in the group ``supports``.
"""

from homodyn.model.side import Side, side_of
from homodyn.motion import supports
from homodyn.motion.anatomical_axes import Axes
from homodyn.motion.clinical import resolve_coordinate, resolve_values
from homodyn.motion.contact_force import ContactForce
from homodyn.motion.event import FOOT_OFF, FOOT_STRIKE, Event
from homodyn.motion.force_plate import ForcePlate, PlateChannels
from homodyn.motion.loads import Loads
from homodyn.motion.mirrored_motion import mirror_motion
from homodyn.motion.motion import (
    FitStatus,
    Motion,
    MotionSource,
    motion_from_poses,
    motion_from_states,
)
from homodyn.motion.motion_sequence import advance_motion, join_motions, repeat_step
from homodyn.motion.obstacles import (
    BoxObstacle,
    CapsuleObstacle,
    CylinderObstacle,
    HeightField,
    MeshObstacle,
    Obstacle,
    PlaneObstacle,
    RingObstacle,
    SphereObstacle,
)
from homodyn.motion.scene import Scene, SceneStep
from homodyn.motion.scene_file import load_scene, save_scene, scene_names
from homodyn.motion.stance_threshold import STANCE_THRESHOLD, StanceThreshold

__all__ = [
    "FOOT_OFF",
    "FOOT_STRIKE",
    "STANCE_THRESHOLD",
    "Axes",
    "BoxObstacle",
    "CapsuleObstacle",
    "ContactForce",
    "CylinderObstacle",
    "Event",
    "FitStatus",
    "ForcePlate",
    "HeightField",
    "Loads",
    "MeshObstacle",
    "Motion",
    "MotionSource",
    "Obstacle",
    "PlaneObstacle",
    "PlateChannels",
    "RingObstacle",
    "Scene",
    "SceneStep",
    "Side",
    "SphereObstacle",
    "StanceThreshold",
    "advance_motion",
    "join_motions",
    "load_scene",
    "mirror_motion",
    "motion_from_poses",
    "motion_from_states",
    "repeat_step",
    "resolve_coordinate",
    "resolve_values",
    "save_scene",
    "scene_names",
    "side_of",
    "supports",
]
