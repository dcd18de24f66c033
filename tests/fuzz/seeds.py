"""Small valid files of every kind, from which the fuzzer starts."""

import io
import sqlite3
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import numpy as np

from homodyn import capture, catalog, save, search
from homodyn.capture import Trial
from homodyn.control import TrajectoryPoints, write_trajectory
from homodyn.motion import ForcePlate, load_scene, save_scene, scene_names
from homodyn.network.search_path import LIBRARY_FOLDER
from homodyn.studio.document import StudioDocument
from homodyn.studio.file_opening import standing_actor
from homodyn.studio.session_store import session_archive
from support.c3d_files import C3D, DEC, MIPS, person, standing_plate
from support.small_models import leg, two_links

REPOSITORY = Path(__file__).parents[2]
WRAPS = REPOSITORY / "tests" / "muscle" / "wraps.osim"

JOB_TOML = """
name = "hopper"
iterations = 3
seed = 1
penalty = -5.0
[optimizer]
kind = "pso"
population = 20
[[parameter]]
name = "push"
lower = 0
upper = 1
[[parameter]]
name = "stiffness"
lower = 1e3
upper = 1e5
unit = "N/m"
scale = "log"
[[objective]]
name = "speed"
maximize = true
until = "> 0.5"
[[objective]]
name = "cost"
[evaluate]
program = ["./simulator", "--json"]
time_limit = 2.5
"""
JOB_XML = """<job name="wheels">
  <optimizer name="pso">
    <setting name="population-size">4</setting>
    <setting name="max-iterations">3</setting>
    <boundaries><boundary name="speed" min="100" max="10 ^ 3"/></boundaries>
    <parameters>
      <parameter name="left" boundary="speed"/>
      <parameter name="right" boundary="speed"/>
    </parameters>
    <fitness><expression>radius - abs(drift) * min(left, 2) ? 1 : sqrt(3)</expression></fitness>
  </optimizer>
  <dispatcher name="wheels">
    <setting name="command">python3 wheels.py</setting>
    <setting name="world">$OPTIMIZATION_JOB_PATH/flat</setting>
  </dispatcher>
</job>
"""
COLUMN_MAP = """
rate = 100
unit = "mm"
up = "z"
delimiter = ";"
skip = 2
missing = [0.0, -9999]
time = "Zeit"
[markers]
LHEE = ["a", "b", "c"]
LFHD = 5
RTOE = "toe"
"""
TASKS = """<OpenSimDocument Version="20302"><IKTaskSet name="tasks"><objects>
<IKMarkerTask name="heel"><apply>true</apply><weight>5</weight></IKMarkerTask>
<IKMarkerTask name="toe"><apply>false</apply><weight>1.5</weight></IKMarkerTask>
<IKCoordinateTask name="hip"><apply>true</apply><weight>2</weight>
<value_type>manual_value</value_type><value>0.25</value></IKCoordinateTask>
</objects></IKTaskSet></OpenSimDocument>
"""
EXTERNAL_LOADS = """<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="30000"><ExternalLoads name="walk"><objects>
<ExternalForce name="right"><isDisabled>false</isDisabled>
<applied_to_body>calcn_r</applied_to_body>
<force_expressed_in_body>ground</force_expressed_in_body>
<point_expressed_in_body>ground</point_expressed_in_body>
<force_identifier>2_ground_force_v</force_identifier>
<point_identifier>2_ground_force_p</point_identifier>
<torque_identifier>2_ground_torque_</torque_identifier></ExternalForce>
<ExternalForce name="left"><applied_to_body>calcn_l</applied_to_body>
<force_identifier>1_ground_force_v</force_identifier>
<point_identifier>1_ground_force_p</point_identifier>
<torque_identifier>1_ground_torque_</torque_identifier></ExternalForce>
</objects><datafile>forces.mot</datafile></ExternalLoads></OpenSimDocument>
"""
SCALE_SETUP = """<?xml version="1.0" encoding="UTF-8"?>
<OpenSimDocument Version="30000"><ScaleTool name="s"><mass>71.5</mass><GenericModelMaker>
<model_file>a.osim</model_file><marker_set_file>Unassigned</marker_set_file></GenericModelMaker>
<ModelScaler><apply>true</apply><scaling_order> measurements manualScale</scaling_order>
<MeasurementSet><objects><Measurement name="shank"><apply>true</apply><MarkerPairSet><objects>
<MarkerPair name="p"><markers> RKNE RTIB</markers></MarkerPair></objects></MarkerPairSet>
<BodyScaleSet><objects><BodyScale name="ShankRight"><axes> X Z</axes></BodyScale></objects>
</BodyScaleSet></Measurement></objects></MeasurementSet><ScaleSet><objects>
<Scale name="c"><scales>1 1.1 0.9</scales><segment>Head</segment><apply>true</apply></Scale>
</objects></ScaleSet><preserve_mass_distribution>true</preserve_mass_distribution>
<time_range>0 0.1</time_range></ModelScaler>
<MarkerPlacer><apply>true</apply><time_range>0 0.1</time_range></MarkerPlacer></ScaleTool>
</OpenSimDocument>
"""
SCHEDULE = """begin (s),end (s),right,left
0,0.1,flat,forefoot
0.1,0.45,flat,swing
0.45,0.55,forefoot,heel
"""
LABEL_MAP = '[markers]\nLHEE = "heel_l"\nRHEE = "heel_r"\n"C 7" = "c7"\n'
SUBJECT = (
    "<KinematicModel>\n"
    + "".join(
        f'<StaticParameter NAME="{side}{name}" PRIOR="0" VALUE="{value}"/>\n'
        for side in ("Left", "Right")
        for name, value in (
            ("LegLength", 880),
            ("KneeWidth", 98.5),
            ("AnkleWidth", 70),
            ("StaticPlantFlex", 0.05),
            ("StaticRotOff", 0.02),
        )
    )
    + '<StaticParameter NAME="InterAsisDistance" VALUE="240"/>\n</KinematicModel>\n'
)
OBJ_MESH = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\nf 1 2 3 4\nf 1//1 2//1 4//1\nf -1 -2 -3\n"
STL_MESH = (
    "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
    "endloop\nendfacet\nendsolid a\n"
)


def trial() -> Trial:
    """A short recording of a person with a gap."""
    positions, labels = person(12)
    positions = positions / 1000.0
    positions[4:6, 2] = np.nan
    return Trial("walk", tuple(labels), positions, 100.0)


def plates() -> tuple[ForcePlate, ...]:
    """Two plates under a person."""
    time = np.arange(12) / 100.0
    force = np.stack([5 * np.sin(time), 3 + 0 * time, 700 + 10 * np.cos(9 * time)], -1)
    point = np.stack([0.1 + time, 0.2 + 0 * time, 0 * time], -1)
    torque = np.stack([0 * time, 0 * time, 2 * np.sin(time)], -1)
    return tuple(
        ForcePlate(f"plate {share}", 100.0, force * share, point, torque) for share in (1.0, 0.5)
    )


def _written(suffix: str, write) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"seed{suffix}"
        write(path)
        return path.read_bytes()


def c3d_files() -> tuple[bytes, ...]:
    points, labels = person(6)
    channels, plate = standing_plate(6)
    groups = {
        "POINT": {"LABELS": labels, "DESCRIPTIONS": labels},
        "FORCE_PLATFORM": plate,
        "ANALOG": {
            "LABELS": [f"A{k}" for k in range(6)],
            "SCALE": np.ones(6),
            "OFFSET": np.zeros(6, dtype=int),
            "GEN_SCALE": 1.0,
            "UNITS": ["N"] * 3 + ["Nmm"] * 3,
        },
        "EVENT": {
            "USED": 2,
            "CONTEXTS": ["Left", "Right"],
            "LABELS": ["Foot Strike", "Foot Off"],
            "TIMES": np.array([[0.0, 0.0], [0.01, 0.03]]),
        },
        "SUBJECTS": {"USED": 1, "NAMES": ["anna"]},
    }
    residuals = np.zeros((6, 10))
    residuals[2, 3] = -1
    full = C3D(points, residuals, channels, groups=groups, header_events=((0.02, "RHS"),))
    integer = C3D(points, residuals, channels, groups=groups, scale=0.1)
    return (
        full.bytes(),
        integer.bytes(),
        C3D(points, groups=groups, analog=channels, processor=DEC).bytes(),
        C3D(points, groups=groups, analog=channels, processor=MIPS, scale=0.1).bytes(),
        _written(".c3d", lambda path: capture.write(trial(), path)),
    )


def trial_files(suffix: str) -> tuple[bytes, ...]:
    return (_written(suffix, lambda path: capture.write(trial(), path)),)


def force_files(suffix: str) -> tuple[bytes, ...]:
    return (_written(suffix, lambda path: capture.write_plates(plates(), path)),)


def model_files(suffix: str) -> tuple[bytes, ...]:
    # URDF has no screws.
    models = (two_links() if suffix == ".urdf" else leg(), catalog.bip())
    files = [_written(suffix, lambda path, model=model: save(model, path)) for model in models]
    if suffix == ".osim":
        files.append(WRAPS.read_bytes())
    return tuple(files)


def network_files() -> tuple[bytes, ...]:
    folders = (REPOSITORY / "examples" / "networks", LIBRARY_FOLDER)
    return tuple(path.read_bytes() for folder in folders for path in sorted(folder.rglob("*.cdn")))


def scene_files() -> tuple[bytes, ...]:
    return tuple(
        _written(".toml", lambda path, name=name: save_scene(load_scene(name), path))
        for name in scene_names()
    )


@cache
def study_file() -> bytes:
    """A study of 40 candidates, as one file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.db"
        found = search.minimize(
            lambda at: float(at["x"] ** 2), {"x": (-1, 1)}, iterations=2, database=path
        )
        found.study.close()
        with sqlite3.connect(path) as connection:
            connection.execute("pragma journal_mode = delete")
        connection.close()
        return path.read_bytes()


@cache
def session_file() -> bytes:
    document = StudioDocument().with_actor(standing_actor(leg())).with_trial(trial())
    return session_archive(document).content


def trajectory_files() -> tuple[bytes, ...]:
    points = TrajectoryPoints(
        np.random.default_rng(1).normal(size=(5, 3)), np.array([0.0, 0.8, 2.0]), (3, 1)
    )
    return (_written(".traj3", lambda path: write_trajectory(path, points)),)


def mesh_files() -> tuple[bytes, ...]:
    corners = np.zeros(2, [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("pad", "<u2")])
    corners["corners"] = np.random.default_rng(0).normal(size=(2, 3, 3))
    binary = bytes(80) + (2).to_bytes(4, "little") + corners.tobytes()
    return (STL_MESH.encode(), binary)


def pose_files() -> tuple[bytes, ...]:
    names = leg().coordinate_names
    rows = (",".join(str(0.1 * k + j) for k in range(len(names))) for j in range(2))
    return (("time," + ",".join(names) + "\n" + "\n".join(f"0,{row}" for row in rows)).encode(),)


def unpack(content: bytes) -> dict[str, bytes]:
    """The files of an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(files: dict[str, bytes]) -> bytes:
    """An archive of files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()
