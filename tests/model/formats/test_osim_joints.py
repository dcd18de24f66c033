"""Every joint, axis function and version of OpenSim files, on texts small enough to read."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

from homodyn.dynamics import inverse_dynamics
from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.model.formats import load
from homodyn.model.functions import Spline
from homodyn.spatial import Transform

TOLERANCE = 1e-11

BODY = """<Body name="{name}"><mass>{mass}</mass><mass_center>0.1 -0.2 0.05</mass_center>
  <inertia>0.3 0.2 0.25 0.01 -0.02 0.03</inertia></Body>"""
FRAMES = """<frames>
  <PhysicalOffsetFrame name="{parent}_offset"><socket_parent>{parent_path}</socket_parent>
    <translation>0.1 -0.3 0.2</translation><orientation>0.4 -0.2 0.7</orientation>
  </PhysicalOffsetFrame>
  <PhysicalOffsetFrame name="{child}_offset"><socket_parent>/bodyset/{child}</socket_parent>
    <translation>-0.05 0.15 0.02</translation><orientation>-0.3 0.5 0.1</orientation>
  </PhysicalOffsetFrame>
</frames>"""
OFFSETS = """<location_in_parent>0.1 -0.3 0.2</location_in_parent>
<orientation_in_parent>0.4 -0.2 0.7</orientation_in_parent>
<location>-0.05 0.15 0.02</location><orientation>-0.3 0.5 0.1</orientation>"""
COUNT = {
    "WeldJoint": 0,
    "PinJoint": 1,
    "SliderJoint": 1,
    "UniversalJoint": 2,
    "PlanarJoint": 3,
    "GimbalJoint": 3,
    "BallJoint": 3,
    "FreeJoint": 6,
}
SPLINE = """<SimmSpline{name}><x>-2 -1.2 -0.5 0.1 0.9 2.1</x>
  <y>-0.4 -0.41 -0.3 0.2 0.1 -0.05</y></SimmSpline>"""
FUNCTIONS = {
    "Constant": "<Constant{name}><value>0.3</value></Constant>",
    "LinearFunction": "<LinearFunction{name}><coefficients>-1.5 0.2</coefficients>"
    "</LinearFunction>",
    "PolynomialFunction": "<PolynomialFunction{name}><coefficients>0.3 -0.5 1.1 0.2</coefficients>"
    "</PolynomialFunction>",
    "SimmSpline": SPLINE,
    "PiecewiseLinearFunction": SPLINE.replace("SimmSpline", "PiecewiseLinearFunction"),
    "MultiplierFunction": "<MultiplierFunction{name}><function>"
    + SPLINE.format(name="")
    + "</function><scale>1.3</scale></MultiplierFunction>",
}


def coordinates(names, extra=""):
    return "".join(
        f'<Coordinate name="{name}"><default_value>0.1</default_value>'
        f"<range>-1.4 1.3</range>{extra}</Coordinate>"
        for name in names
    )


def joint(kind, name, parent, child, inner="", names=None):
    """A joint as version 4 writes it."""
    names = [f"{name}_{k}" for k in range(COUNT.get(kind, 1))] if names is None else names
    path = "/ground" if parent == "ground" else f"/bodyset/{parent}"
    return (
        f'<{kind} name="{name}"><socket_parent_frame>{parent}_offset</socket_parent_frame>'
        f"<socket_child_frame>{child}_offset</socket_child_frame>"
        f"<coordinates>{coordinates(names)}</coordinates>"
        + FRAMES.format(parent=parent, parent_path=path, child=child)
        + f"{inner}</{kind}>"
    )


def old_body(kind, name, parent, child, inner="", reverse="false"):
    """A body with its joint inside, as versions up to 3 write it."""
    names = [f"{name}_{k}" for k in range(COUNT.get(kind, 1))]
    anchored = (
        f'<Joint><{kind} name="{name}"><parent_body> {parent} </parent_body>{OFFSETS}'
        f'<CoordinateSet name=""><objects>{coordinates(names)}</objects></CoordinateSet>'
        f"<reverse> {reverse} </reverse>{inner}</{kind}></Joint></Body>"
    )
    body = BODY.format(name=child, mass=2.5)
    inertia = [0.3, 0.2, 0.25, 0.01, -0.02, 0.03]
    entries = "".join(
        f"<inertia_{e}> {x} </inertia_{e}>"
        for e, x in zip(("xx", "yy", "zz", "xy", "xz", "yz"), inertia, strict=True)
    )
    return re.sub("<inertia>.*</inertia>", entries, body).replace("</Body>", anchored)


def new(joints, *, bodies=("a", "b"), parts="", version=40000):
    created = "".join(BODY.format(name=name, mass=2.5) for name in bodies)
    return (
        f'<?xml version="1.0"?><OpenSimDocument Version="{version}"><Model name="zoo">'
        f"<gravity>0.5 -9 1</gravity>"
        f'<BodySet name="bodyset"><objects>{created}</objects></BodySet>'
        f'<JointSet name="jointset"><objects>{joints}</objects></JointSet>{parts}'
        f"</Model></OpenSimDocument>"
    )


def old(bodies, *, parts="", version=30000):
    return (
        f'<OpenSimDocument Version="{version}"><Model name="zoo"><gravity>0.5 -9 1</gravity>'
        f'<BodySet name=""><objects><Body name="ground"><mass>0</mass><Joint/></Body>{bodies}'
        f"</objects></BodySet>{parts}</Model></OpenSimDocument>"
    )


def axes(function, *, wrapped=False, coordinate="knee_0"):
    """A spatial transform whose second turn and first slide follow a function."""
    created = ""
    directions = ((0, 0, 1), (1, 0.2, 0), (0, 1, 0), (1, 0.3, 0), (0, 1, 0), (0, 0.6, 0.9))
    for k, direction in enumerate(directions):
        name = f"rotation{k + 1}" if k < 3 else f"translation{k - 2}"
        text, used = FUNCTIONS["Constant"].replace("0.3", "0"), ""
        if name == "rotation1":
            text, used = FUNCTIONS["LinearFunction"], coordinate
        elif name in ("rotation2", "translation1"):
            text, used = function, "" if function.startswith("<Constant") else coordinate
        elif name == "translation3":
            text = FUNCTIONS["Constant"]
        anchored = (
            f"<function>{text.format(name='')}</function>"
            if wrapped
            else (text.format(name=' name="function"'))
        )
        created += (
            f'<TransformAxis name="{name}"><coordinates>{used}</coordinates>'
            f"<axis>{' '.join(map(str, direction))}</axis>{anchored}</TransformAxis>"
        )
    return f"<SpatialTransform>{created}</SpatialTransform>"


PIN = joint("PinJoint", "tail", "a", "b")


@pytest.fixture
def write(tmp_path):
    def created(text: str, name: str = "zoo.osim") -> str:
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return created


def random_pose(model: Model, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(model.lower, model.upper)


def assert_places(opensim, path: str, model: Model) -> None:
    for seed in range(5):
        q = random_pose(model, seed)
        theirs = opensim("places", path=path, values=named(model, q))
        placed = {"world": Transform.identity()}
        placed |= dict(zip(model.body_names, Tree(model, q).placements, strict=True))
        for name, (r, R) in theirs["bodies"].items():
            assert_allclose(placed[name].r, r, atol=TOLERANCE)
            assert_allclose(placed[name].E.T, R, atol=TOLERANCE)
        for marker in model.markers:
            here = placed[marker.body].point_back(marker.position)
            assert_allclose(here, theirs["markers"][marker.name], atol=TOLERANCE)


def named(model: Model, values: np.ndarray) -> dict[str, float]:
    return dict(zip(model.coordinate_names, np.asarray(values).tolist(), strict=True))


def assert_torques(opensim, path: str, model: Model, *, moving: bool = True) -> None:
    """Where speeds are rates of coordinates; at rest otherwise, by way of d rates / d speeds."""
    rng = np.random.default_rng(1)
    q = random_pose(model, 9)
    v, a = rng.uniform(-1, 1, (2, model.nv)) * [[moving], [1]]
    still = dict.fromkeys(model.coordinate_names, 0.0)
    unit = [
        opensim("rates", path=path, values=named(model, q), speeds=still | {name: 1.0})
        for name in model.coordinate_names
    ]
    N = np.array([[u[name] for u in unit] for name in model.coordinate_names])
    if moving:
        assert_allclose(N, np.eye(model.nv), atol=1e-14)
    theirs = opensim(
        "torques",
        path=path,
        values=named(model, q),
        speeds=named(model, v),
        accelerations=named(model, a),
    )
    ours = N.T @ inverse_dynamics(model, q, v, N @ a)
    expected = np.array([theirs[name] for name in model.coordinate_names])
    assert_allclose(ours, expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("kind", COUNT)
def test_each_joint_moves_and_resists_as_in_opensim(write, opensim, kind):
    path = write(new(joint(kind, "hip", "ground", "a") + PIN))
    model = load(path)
    assert model.coordinate_names == (*(f"hip_{k}" for k in range(COUNT[kind])), "tail_0")
    angular = kind in ("BallJoint", "FreeJoint")
    assert any("rates of its angles" in note for note in model.notes) == angular
    assert_places(opensim, path, model)
    assert_torques(opensim, path, model, moving=not angular)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_function_moves_the_axes_of_a_custom_joint_as_in_opensim(write, opensim, function):
    inner = axes(FUNCTIONS[function])
    path = write(new(joint("CustomJoint", "knee", "ground", "a", inner) + PIN))
    model = load(path)
    assert_places(opensim, path, model)
    assert_torques(opensim, path, model, moving=function == "Constant")


def test_axes_that_stand_still_become_no_motions(write):
    inner = axes(FUNCTIONS["SimmSpline"])
    knee = load(write(new(joint("CustomJoint", "knee", "ground", "a", inner) + PIN))).joints[0]
    assert [motion.kind for motion in knee.axes] == ["slide", "turn", "turn"]
    assert isinstance(knee.axes[0].function, Spline)
    assert knee.axes[0].function.end == "simm"


@pytest.mark.parametrize("kind", [*COUNT, "CustomJoint"])
def test_joints_inside_bodies_are_the_same_as_joints_in_a_set(write, kind):
    fresh, aged = (axes(FUNCTIONS["SimmSpline"], wrapped=old) for old in (False, True))
    custom = kind == "CustomJoint"
    text = new(joint(kind, "knee", "ground", "a", fresh if custom else "") + PIN)
    model = load(write(text))
    tail = old_body("PinJoint", "tail", "a", "b")
    bodies = old_body(kind, "knee", "ground", "a", aged if custom else "") + tail
    for version in (10901, 20302, 30000):
        again = load(write(old(bodies, version=version), "old.osim"))
        assert again.joints == model.joints
        assert again.bodies == model.bodies


def test_old_names_of_the_spline_are_the_same_spline(write):
    text = new(joint("CustomJoint", "knee", "ground", "a", axes(FUNCTIONS["SimmSpline"])) + PIN)
    model = load(write(text))
    for name in ("NaturalCubicSpline", "natCubicSpline"):
        assert load(write(text.replace("SimmSpline", name))).joints == model.joints


@pytest.mark.parametrize("kind", ["PinJoint", "UniversalJoint", "PlanarJoint", "CustomJoint"])
def test_reversed_joints_are_those_of_opensim(write, opensim, kind):
    inner = axes(FUNCTIONS["SimmSpline"], wrapped=True) if kind == "CustomJoint" else ""
    bodies = old_body(kind, "knee", "ground", "a", inner, reverse="true")
    path = write(old(bodies + old_body("PinJoint", "tail", "a", "b")))
    model = load(path)
    assert_places(opensim, path, model)


@pytest.mark.parametrize("kind", ["PinJoint", "UniversalJoint", "CustomJoint"])
def test_joints_directed_toward_the_ground_are_reversed(write, opensim, kind):
    inner = axes(FUNCTIONS["SimmSpline"]) if kind == "CustomJoint" else ""
    root = joint("FreeJoint", "root", "ground", "b")
    path = write(new(root + joint(kind, "knee", "a", "b", inner)))
    model = load(path)
    assert [joint.parent for joint in model.joints] == ["world", "b"]
    assert_places(opensim, path, model)


def test_sockets_lead_through_frames_of_frames(write, opensim):
    deep = """<components>
      <PhysicalOffsetFrame name="tip"><socket_parent>..</socket_parent>
        <translation>0.3 0 0.1</translation><orientation>0.2 0.1 0</orientation>
        <components><PhysicalOffsetFrame name="end"><socket_parent>..</socket_parent>
          <translation>0 0.2 0</translation><orientation>0 0 0.5</orientation>
        </PhysicalOffsetFrame></components>
      </PhysicalOffsetFrame></components>"""
    marker = """<MarkerSet name="markerset"><objects>
      <Marker name="m"><socket_parent_frame>/bodyset/a/tip/end</socket_parent_frame>
        <location>0.1 0.2 0.3</location></Marker>
      <Marker name="origin"><socket_parent_frame>/ground</socket_parent_frame></Marker>
      </objects></MarkerSet>"""
    tail = PIN.replace("/bodyset/a<", "/bodyset/a/tip/end<")
    text = new(joint("PinJoint", "hip", "ground", "a") + tail, parts=marker)
    path = write(text.replace("</inertia></Body>", f"</inertia>{deep}</Body>", 1))
    model = load(path)
    assert {frame.name for frame in model.frames} >= {"tip"}
    assert_places(opensim, path, model)


def test_a_body_without_a_joint_moves_freely(write, opensim):
    path = write(new(PIN))
    model = load(path)
    assert model.nv == 7
    assert "body 'a' has no joint in the file; it moves freely, as in OpenSim" in model.notes
    assert len(opensim("about", path=path)["coordinates"]) == 7


def test_coordinates_left_out_are_named_after_the_joint(write, opensim):
    text = new(joint("UniversalJoint", "hip", "ground", "a", names=()) + PIN)
    path = write(text.replace("<coordinates></coordinates>", ""))
    model = load(path)
    assert model.coordinate_names[:2] == ("hip_coord_0", "hip_coord_1")
    # OpenSim leaves the name of the joint out, so that two such joints collide.
    usual = opensim("about", path=path)["coordinates"]["_coord_0"]
    assert [model.lower[0], model.upper[0]] == usual["range"]


@pytest.mark.parametrize(
    ("function", "still"),
    [
        ("", True),
        ("<function/>", False),
        ("<LinearFunction><coefficients>2 0.1</coefficients></LinearFunction>", False),
        ('<LinearFunction name=""/>', False),
    ],
)
def test_functions_left_out_or_without_a_name_are_taken_as_in_opensim(
    write, opensim, function, still
):
    inner = axes(FUNCTIONS["SimmSpline"])
    inner = inner.replace(FUNCTIONS["LinearFunction"].format(name=' name="function"'), function)
    path = write(new(joint("CustomJoint", "knee", "ground", "a", inner) + PIN))
    model = load(path)
    assert len(model.joints[0].axes) == (2 if still else 3)
    assert_places(opensim, path, model)


def test_values_left_out_are_those_of_the_defaults(write, opensim):
    text = new(joint("PinJoint", "hip", "ground", "a") + PIN).replace("<range>-1.4 1.3</range>", "")
    usual = """<Model name="zoo"><defaults><Coordinate name="default"><range>-0.5 0.25</range>
      </Coordinate></defaults>"""
    path = write(text.replace('<Model name="zoo">', usual))
    model, about = load(path), opensim("about", path=path)
    assert [model.lower[0], model.upper[0]] == about["coordinates"]["hip_0"]["range"]
