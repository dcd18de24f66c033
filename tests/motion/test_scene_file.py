"""Scene files: bundled scenes, round trips of every kind of obstacle and support, and errors."""

import numpy as np
import pytest

from homodyn.errors import FormatError
from homodyn.motion import (
    BoxObstacle,
    CapsuleObstacle,
    CylinderObstacle,
    HeightField,
    MeshObstacle,
    PlaneObstacle,
    RingObstacle,
    Scene,
    SceneStep,
    SphereObstacle,
    load_scene,
    save_scene,
    scene_names,
)
from homodyn.motion.bspline import ComSpline
from homodyn.motion.obstacles import OBSTACLE_KINDS
from homodyn.motion.scene import ComPlanRequest, HeightRamp
from homodyn.motion.supports import ContactPatch, Grasp, sole_contact

GOOD = """
format = "homodyn scene 1"
name = "two steps"
mass = 60.0
limit = 1000
[defaults]
friction = 0.7
length = 0.28
width = 0.09
[[support]]
name = "left"
position = [0.0, 0.1, 0.0]
[[support]]
name = "rail"
kind = "grasp"
position = [0.4, 0.0, 1.0]
force = [100, 50, 50]
[[support]]
name = "edge"
kind = "patch"
corners = [[0, 0, 0], [1, 0, 0]]
sides = 8
pyramid = "inner"
[[phase]]
supports = ["left"]
duration = 0.5
[[phase]]
supports = ["left", "rail", "edge"]
duration = 0.7
"""

OBSTACLES = """
format = "homodyn scene 1"
name = "all kinds"

[ground]
kind = "height_field"
heights = [[0.0, 0.1], [0.2, 0.3]]
spacing = [0.5, 0.25]
origin = [-1.0, -2.0]

[[obstacle]]
name = "crate"
kind = "box"
position = [1.0, 0.0, 0.2]
yaw_degrees = 90.0
size = [0.4, 0.2, 0.6]
friction = 0.3

[[obstacle]]
kind = "plane"
normal = [0.0, 3.0, 4.0]
height = -0.5

[[obstacle]]
name = "boulder"
kind = "sphere"
radius = 0.3

[[obstacle]]
name = "post"
kind = "cylinder"
radius = 0.1
length = 2.0
position = [0.0, 1.0, 1.0]

[[obstacle]]
name = "rail"
kind = "capsule"
radius = 0.02
length = 1.5
orientation = [0.7071067811865476, 0.7071067811865476, 0.0, 0.0]

[[obstacle]]
name = "wheel"
kind = "ring"
radius = 0.18
tube_radius = 0.015

[[obstacle]]
name = "wedge"
kind = "mesh"
vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
scale = 0.5
"""


@pytest.fixture
def read(tmp_path):
    def read_text(text: str) -> Scene:
        path = tmp_path / "scene.toml"
        path.write_text(text)
        return load_scene(path)

    return read_text


def test_bundled_scenes_load():
    assert scene_names() == ("biped", "car", "complex", "quadruped", "ramp")
    counts = {name: len(load_scene(name).steps) for name in scene_names()}
    assert counts == {"biped": 9, "car": 6, "complex": 7, "quadruped": 9, "ramp": 9}
    platform = load_scene("complex").obstacles[2]
    assert platform.name == "platform"
    # Full sizes: the top of the platform carries the last supports.
    assert platform.corners[:, 2].max() == pytest.approx(0.2)
    assert load_scene("complex").supports["left 2"].middle[2] == pytest.approx(0.2)


def test_the_ground_of_every_bundled_scene_carries_supports_or_none():
    for name in scene_names():
        scene = load_scene(name)
        heights = [
            scene.ground.normal @ corner - scene.ground.height
            for support in scene.supports.values()
            if isinstance(support, ContactPatch)
            for corner in support.corners
        ]
        assert min(heights) > -1e-6
        assert name == "quadruped" or min(heights) < 1e-6


def test_supports_and_phases_of_a_file(read):
    scene = read(GOOD)
    assert scene.instants == pytest.approx([0, 0.5, 1.2])
    assert scene.steps[1].supports == ("left", "rail", "edge")
    assert scene.limit == 1000
    assert scene.supports["rail"].force == pytest.approx([100, 50, 50])
    assert scene.supports["edge"].sides == 8
    left = scene.supports["left"]
    assert np.ptp(left.corners, axis=0) == pytest.approx([0.28, 0.09, 0])
    assert left.friction == 0.7
    # The default ground is the plane z = 0.
    assert isinstance(scene.ground, PlaneObstacle)
    assert scene.ground.height == 0


def test_a_scene_needs_neither_mass_nor_supports(read):
    scene = read('format = "homodyn scene 1"\nname = "hall"\n[ground]\nkind = "none"\n')
    assert scene.mass is None
    assert scene.ground is None
    assert scene.all_obstacles == ()


def test_every_kind_of_obstacle_is_read(read):
    scene = read(OBSTACLES)
    assert {each.kind for each in scene.all_obstacles} == set(OBSTACLE_KINDS)
    crate, plane, boulder, post, rail, wheel, wedge = scene.obstacles
    assert scene.ground.heights.tolist() == [[0.0, 0.1], [0.2, 0.3]]
    assert scene.ground.nodes[-1] == (-0.5, -1.75, 0.3)
    assert crate.friction == 0.3
    assert np.ptp(crate.corners, axis=0) == pytest.approx([0.2, 0.4, 0.6])
    assert plane.normal == pytest.approx([0, 0.6, 0.8])
    assert boulder.radius == 0.3
    assert (post.radius, post.length) == (0.1, 2.0)
    assert rail.orientation @ [0, 0, 1] == pytest.approx([0, -1, 0])
    assert (wheel.radius, wheel.tube_radius) == (0.18, 0.015)
    assert wedge.mesh.vertices.max() == 0.5
    assert len(wedge.mesh.faces) == 4


TURN = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])


def full_scene(folder) -> Scene:
    (folder / "part.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    pose = {"position": (0.1, -1 / 3, 2e-7), "orientation": TURN}
    feet = sole_contact("left", (0, 0.1, 0), (0.28, 0.09), friction=0.7, orientation=0.3, body="f")
    return Scene(
        'a "quoted" name',
        HeightField(np.random.default_rng(0).normal(size=(3, 4)), (0.1, 0.3), (1 / 3, 0)),
        (
            PlaneObstacle((0.2, -0.3, 1.0), 0.1, name="ramp", friction=0.4),
            BoxObstacle((0.4, 1 / 3, 0.2), name="crate", **pose),
            SphereObstacle(1 / 7, **pose),
            CylinderObstacle(0.1, 0.5, **pose),
            CapsuleObstacle(0.1, 0.5, **pose),
            RingObstacle(0.18, 0.01, **pose),
            MeshObstacle(str(folder / "part.obj"), scale=0.001, **pose),
            MeshObstacle(vertices=np.eye(3), faces=np.array([[0, 1, 2]]), **pose),
        ),
        {
            "left": feet,
            "toe": ContactPatch(
                "toe", [[0, 0, 0.5]], [0.1, 0.2, 1], 0.3, 200.0, None, 8, "inner", 7.0, "toes"
            ),
            "hand": Grasp("hand", (0.5, 0, 1), (1, 2, 3), 0.5, "ball", TURN, "palm"),
        },
        (SceneStep("first", ("left",), 0.4), SceneStep("second", ("left", "hand"), None, 0.3)),
        61.5,
        1234.5,
        (0.0, -9.81, 0.0),
        ComPlanRequest(
            (0, 0, 1), (1, 0, 1), 4, 1.1, HeightRamp(1, 2, 3, 4), None, False, True, "force", 2, 0.5
        ),
        ComSpline(4, [0, 0.4, 1.0], np.random.default_rng(1).normal(size=(6, 3))),
        ("one note", "another"),
    )


def test_a_written_scene_is_read_back_equal(tmp_path):
    scene = full_scene(tmp_path)
    save_scene(scene, tmp_path / "scene.toml")
    again = load_scene(tmp_path / "scene.toml")
    assert again.to_dict() == scene.to_dict()
    assert Scene.from_dict(scene.to_dict()).to_dict() == scene.to_dict()
    text = (tmp_path / "scene.toml").read_text()
    assert text.count("[[obstacle]]") == 8
    # Mesh files beside the scene stay beside it when both are moved.
    assert 'file = "part.obj"' in text


@pytest.mark.parametrize("name", scene_names())
def test_bundled_scenes_are_read_back_equal(name, tmp_path):
    scene = load_scene(name)
    save_scene(scene, tmp_path / "again.toml")
    assert load_scene(tmp_path / "again.toml").to_dict() == scene.to_dict()


def test_a_mesh_file_is_read_when_it_is_used(read, tmp_path):
    scene = read(
        'format = "homodyn scene 1"\nname = "x"\n[[obstacle]]\nname = "part"\nkind = "mesh"\n'
        'file = "parts/part.stl"\n'
    )
    part = scene.obstacles[0]
    assert part.file == str(tmp_path / "parts" / "part.stl")
    with pytest.raises(FormatError, match="no such file"):
        part.mesh  # noqa: B018


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("mass = 60.0", "mass = -1", r"mass: a number above 0 is expected, got -1"),
        ("mass = 60.0", 'mass = "heavy"', r"mass: a number is expected, got 'heavy'"),
        ("position = [0.0, 0.1, 0.0]", "position = [0.0, 0.1]", r"support 'left'.position: 3"),
        ("friction = 0.7", "friction = -0.7", r"support 'left': .*friction"),
        ('kind = "grasp"', 'kind = "grap"', r"support 'rail'.kind: .*'grap'.*grasp"),
        ('supports = ["left"]', 'supports = ["lefty"]', r"phase 1.supports: .*'lefty'.*left"),
        ("limit = 1000", "limt = 1000", r"limt: .*'limt'.*limit"),
        ("width = 0.09", "width = 0", r"support 'left'.width: a number above 0"),
        ("width = 0.09", "widht = 0.1", r"defaults.widht: no field 'widht'.*width"),
        ('pyramid = "inner"', 'pyramid = "inside"', r"'edge'.pyramid: no pyramid 'inside'.*inner"),
        ("sides = 8", "sides = 2.5", r"'edge'.sides: a whole number from 3 up"),
        ("duration = 0.5", "duration = 0", r"phase 1.duration: a number above 0"),
        ("homodyn scene 1", "homodyn 1", r"format: 'homodyn scene 1' is expected"),
        ('name = "rail"', 'name = "left"', r"two supports of the name 'left'"),
        ("[[phase]]", "[[phase", r"this is not TOML"),
    ],
)
def test_an_invalid_field_is_named(read, old, new, message):
    assert old in GOOD
    with pytest.raises(FormatError, match=message):
        read(GOOD.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kind = "box"', 'kind = "bag"', r"obstacle 'crate'.kind: no kind 'bag'; accepted: .*box"),
        ('kind = "box"', "", r"obstacle 'crate'.kind: this field is missing; accepted: plane, box"),
        ("size = [0.4, 0.2, 0.6]", "", r"obstacle 'crate'.size: this field is missing"),
        ("size = [0.4, 0.2, 0.6]", "size = [0.4, 0.2, 0]", r"box 'crate': size is three lengths"),
        ("yaw_degrees = 90.0", "yaw_degrees = 90.0\norientation = [1, 0, 0, 0]", r"either yaw_deg"),
        ("friction = 0.3", "friction = -1", r"obstacle 'crate': box 'crate': friction"),
        ("radius = 0.3", "radius = -0.3", r"obstacle 'boulder'.radius: a number above 0"),
        ("radius = 0.3", "diameter = 0.3", r"obstacle 'boulder'.diameter: no field 'diameter'"),
        ("length = 2.0", "", r"obstacle 'post'.length: this field is missing"),
        ("orientation = [0.7", "orientation = [0.9", r"obstacle 'rail': .*rotation matrix"),
        ("tube_radius = 0.015", "tube_radius = 0.3", r"obstacle 'wheel': .*has no hole"),
        ("[1, 2, 3]]", "[1, 2, 9]]", r"obstacle 'wedge': .*vertices from 0 to 3"),
        ("[1, 2, 3]]", "[1, 2, 2.5]]", r"obstacle 'wedge'.faces: vertex numbers are whole"),
        ("scale = 0.5", 'file = "a.stl"', r"obstacle 'wedge': .*either a file or vertices"),
        ("height = -0.5", "hight = -0.5", r"obstacle 2.hight: no field 'hight'.*'height'"),
        ("heights = [[0.0, 0.1], [0.2, 0.3]]", "heights = [[0.0]]", r"ground: .*at least 2 x 2"),
        ('name = "post"', 'name = "crate"', r"several obstacles of one name: crate"),
    ],
)
def test_an_invalid_obstacle_is_named(read, old, new, message):
    assert old in OBSTACLES
    with pytest.raises(FormatError, match=message):
        read(OBSTACLES.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("mass = 60.0", "mass = -1", "line 4, mass: "),
        ("force = [100, 50, 50]", "force = -3", "line 13, support 'rail': .*force"),
        ("force = [100, 50, 50]", "force = [1, 2]", "line 17, support 'rail'.force: "),
        ("duration = 0.7", "duration = 0", "line 29, phase 2.duration: "),
        ('name = "rail"', "", "line 13, support 2.name: this field is missing"),
        ("[[phase]]", "[[phase", "not TOML: .*line 24"),
    ],
)
def test_an_error_has_its_line(read, old, new, place):
    assert old in GOOD
    with pytest.raises(FormatError, match=place):
        read(GOOD.replace(old, new, 1))


def test_all_errors_are_reported_at_once(read):
    text = GOOD.replace("mass = 60.0", "mass = -1").replace("sides = 8", "sids = 8")
    text = text.replace('supports = ["left"]', 'supports = ["lefty"]')
    with pytest.raises(FormatError, match="3 errors") as caught:
        read(text)
    lines = str(caught.value).splitlines()[1:]
    assert [line.split(",")[0].strip() for line in lines] == ["line 4", "line 22", "line 25"]


def test_unknown_names_and_suffixes_are_refused(tmp_path):
    with pytest.raises(FormatError, match="biped, car, complex, quadruped"):
        load_scene("lorry")
    with pytest.raises(FormatError, match=r"ends in \.toml"):
        save_scene(load_scene("car"), tmp_path / "car.json")
    assert list(tmp_path.iterdir()) == []


def test_bounds_of_the_height_may_return(tmp_path):
    upper, lower = HeightRamp(0.96, 0.2, 15.0, 0.2, 0.8), HeightRamp(0.9, 0.2, 15.0, 0.2, 0.8)
    scene = Scene("dip", plan=ComPlanRequest((0, 0, 1), (1, 0, 1), 5, 1.1, upper, lower))
    save_scene(scene, tmp_path / "dip.toml")
    again = load_scene(tmp_path / "dip.toml")
    assert again.plan.upper == upper
    assert again.plan.lower == lower
    # The level far away, the level less the drop in the middle of a long dip.
    assert upper.height(np.array([-50.0]))[0] == pytest.approx(0.96, abs=1e-3)
    assert HeightRamp(1.0, 0.2, 1e4, -1.0, 1.0).height(np.array([0.0]))[0] == pytest.approx(
        0.8, abs=1e-4
    )
