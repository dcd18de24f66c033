"""OpenSim files: what is kept as data, what notes list, what is refused and where."""

import gzip
import re
import zlib

import numpy as np
import pytest
from numpy.testing import assert_allclose

from homodyn.errors import FormatError, HomodynError, ModelError
from homodyn.model.formats import load, read_osim, xml
from homodyn.model.functions import Linear, Polyline, ScaledFunction, Spline
from homodyn.model.plausibility import implausibilities

LEG = """<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40500">
  <Model name="leg">
    <credits>nobody</credits>
    <Ground name="ground">
      <attached_geometry><Brick name="floor"/></attached_geometry>
      <WrapObjectSet name="wrapobjectset"><objects>
        <WrapSphere name="ball"><translation>0 1 0</translation><radius>0.1</radius></WrapSphere>
      </objects></WrapObjectSet>
    </Ground>
    <BodySet name="bodyset">
      <objects>
        <Body name="thigh">
          <mass>8</mass>
          <mass_center>0 -0.2 0</mass_center>
          <inertia>0.1 0.02 0.1 0 0 0</inertia>
          <attached_geometry>
            <Mesh name="bone"><mesh_file>femur.vtp</mesh_file>
              <scale_factors>1 1.1 1</scale_factors></Mesh>
          </attached_geometry>
          <WrapObjectSet name="wrapobjectset"><objects>
            <WrapCylinder name="condyle"><active>false</active>
              <xyz_body_rotation>0 0.5 0</xyz_body_rotation><translation>0 -0.4 0</translation>
              <quadrant>-x</quadrant><radius>0.03</radius><length>0.1</length></WrapCylinder>
            <WrapEllipsoid name="pad"><dimensions>0.1 0.2 0.3</dimensions></WrapEllipsoid>
            <WrapCone name="cone"/>
          </objects></WrapObjectSet>
        </Body>
        <Body name="shank">
          <mass>3</mass><mass_center>0 -0.2 0</mass_center><inertia>0.05 0.01 0.05 0 0 0</inertia>
        </Body>
        <Body name="patella"><mass>0</mass></Body>
      </objects>
    </BodySet>
    <JointSet name="jointset">
      <objects>
        <PinJoint name="hip">
          <socket_parent_frame>/ground</socket_parent_frame>
          <socket_child_frame>/bodyset/thigh</socket_child_frame>
          <coordinates>
            <Coordinate name="flexion"><default_value>0.2</default_value><range>-1 2</range>
              <clamped>true</clamped><locked>true</locked></Coordinate>
          </coordinates>
        </PinJoint>
        <PinJoint name="knee">
          <socket_parent_frame>thigh_offset</socket_parent_frame>
          <socket_child_frame>/bodyset/shank</socket_child_frame>
          <coordinates>
            <Coordinate name="bend"><range>-2 0</range><prescribed>true</prescribed>
              <prescribed_function><Constant><value>1</value></Constant></prescribed_function>
            </Coordinate>
          </coordinates>
          <frames>
            <PhysicalOffsetFrame name="thigh_offset">
              <socket_parent>/bodyset/thigh</socket_parent><translation>0 -0.4 0</translation>
            </PhysicalOffsetFrame>
          </frames>
        </PinJoint>
        <SliderJoint name="groove">
          <socket_parent_frame>/bodyset/thigh</socket_parent_frame>
          <socket_child_frame>/bodyset/patella</socket_child_frame>
          <coordinates><Coordinate name="glide"><range>-Inf Inf</range></Coordinate></coordinates>
        </SliderJoint>
      </objects>
    </JointSet>
    <ControllerSet name="controllerset"><objects><ToyController/></objects></ControllerSet>
    <ConstraintSet name="constraintset">
      <objects>
        <CoordinateCouplerConstraint name="follows">
          <coupled_coordinates_function>
            <LinearFunction><coefficients>0.1 0.02</coefficients></LinearFunction>
          </coupled_coordinates_function>
          <independent_coordinate_names>bend</independent_coordinate_names>
          <dependent_coordinate_name>glide</dependent_coordinate_name>
          <scale_factor>1</scale_factor>
        </CoordinateCouplerConstraint>
        <WeldConstraint name="glue"/>
        <PointConstraint name="off"><isEnforced>false</isEnforced></PointConstraint>
      </objects>
    </ConstraintSet>
    <ForceSet name="forceset">
      <objects>
        <Thelen2003Muscle name="rectus">
          <GeometryPath name="path">
            <PathPointSet><objects>
              <PathPoint name="p1"><socket_parent_frame>/ground</socket_parent_frame>
                <location>0.1 0 0</location></PathPoint>
              <ConditionalPathPoint name="p2">
                <socket_parent_frame>/bodyset/thigh</socket_parent_frame>
                <location>0.05 -0.3 0</location>
                <socket_coordinate>/jointset/knee/bend</socket_coordinate>
                <range>-2 -1</range></ConditionalPathPoint>
              <MovingPathPoint name="p3">
                <socket_parent_frame>/bodyset/shank</socket_parent_frame>
                <socket_x_coordinate>/jointset/knee/bend</socket_x_coordinate>
                <socket_y_coordinate>/jointset/knee/bend</socket_y_coordinate>
                <socket_z_coordinate>/jointset/knee/bend</socket_z_coordinate>
                <x_location><SimmSpline><x>-2 -1 0</x><y>0.1 0.2 0.1</y></SimmSpline></x_location>
                <y_location><MultiplierFunction><function>
                  <PiecewiseLinearFunction><x>-2 0</x><y>0 1</y></PiecewiseLinearFunction>
                  </function><scale>0.5</scale></MultiplierFunction></y_location>
                <z_location><Constant><value>0.03</value></Constant></z_location>
              </MovingPathPoint>
            </objects></PathPointSet>
            <PathWrapSet><objects>
              <PathWrap name="w"><wrap_object>condyle</wrap_object><method>midpoint</method>
                <range>2 3</range></PathWrap>
            </objects></PathWrapSet>
          </GeometryPath>
          <max_isometric_force>1200</max_isometric_force>
          <optimal_fiber_length>0.11</optimal_fiber_length>
          <tendon_slack_length>0.3</tendon_slack_length>
          <pennation_angle_at_optimal>0.1</pennation_angle_at_optimal>
          <FmaxTendonStrain>0.04</FmaxTendonStrain>
          <ignore_tendon_compliance>true</ignore_tendon_compliance>
          <ActiveForceLengthCurve name="c"><minimum_value>0.1</minimum_value>
          </ActiveForceLengthCurve>
        </Thelen2003Muscle>
        <Ligament name="acl">
          <GeometryPath><PathPointSet><objects>
            <PathPoint name="l1"><socket_parent_frame>/bodyset/thigh</socket_parent_frame>
              <location>0 -0.4 0</location></PathPoint>
            <PathPoint name="l2"><socket_parent_frame>/bodyset/shank</socket_parent_frame>
              <location>0 -0.1 0</location></PathPoint>
          </objects></PathPointSet></GeometryPath>
          <resting_length>0.03</resting_length>
        </Ligament>
        <SpringGeneralizedForce name="stiff"><coordinate>bend</coordinate>
          <stiffness>3</stiffness><rest_length>-0.5</rest_length><viscosity>0.2</viscosity>
        </SpringGeneralizedForce>
        <SpringGeneralizedForce name="stiffer"><coordinate>bend</coordinate>
          <stiffness>1</stiffness><rest_length>-0.1</rest_length><viscosity>0.1</viscosity>
        </SpringGeneralizedForce>
        <CoordinateActuator name="motor"><coordinate>bend</coordinate></CoordinateActuator>
      </objects>
    </ForceSet>
    <MarkerSet name="markerset">
      <objects>
        <Marker name="KNE"><socket_parent_frame>/jointset/knee/thigh_offset</socket_parent_frame>
          <location>0 0.01 0.05</location></Marker>
        <Marker name="shank"><socket_parent_frame>/bodyset/shank</socket_parent_frame>
          <location>0 0 0.1</location></Marker>
      </objects>
    </MarkerSet>
    <ContactGeometrySet name="contactgeometryset">
      <objects>
        <ContactSphere name="heel"><socket_frame>/bodyset/shank</socket_frame>
          <location>0 -0.4 0</location><radius>0.03</radius></ContactSphere>
        <ContactSphere name="KNE"><socket_frame>/bodyset/shank</socket_frame>
          <radius>0.02</radius></ContactSphere>
        <ContactHalfSpace name="floor"><socket_frame>/ground</socket_frame></ContactHalfSpace>
      </objects>
    </ContactGeometrySet>
  </Model>
</OpenSimDocument>
"""


@pytest.fixture
def leg(tmp_path):
    def write(text: str = LEG, name: str = "leg.osim"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_opensim_reads_the_leg_too(leg, opensim):
    known = LEG.replace('<WrapCone name="cone"/>', "").replace("<ToyController/>", "")
    known = known.replace('<WeldConstraint name="glue"/>', "")
    known = known.replace('<PointConstraint name="off"><isEnforced>false</isEnforced>', "")
    known = known.replace("<ignore_tendon_compliance>true</ignore_tendon_compliance>", "")
    # OpenSim wants mass at every end of the tree, even where a coordinate is coupled.
    known = known.replace("<mass>0</mass>", "<mass>0.1</mass><inertia>1 1 1 0 0 0</inertia>")
    path = str(leg(known.replace("</PointConstraint>", "")))
    about, model = opensim("about", path=path), load(path)
    assert model.mass == about["mass"]
    names = {"flexion": 0.3, "bend": -0.7, "glide": -0.05}
    q = np.array([names[name] for name in model.coordinate_names])
    assert model.coordinate_names == ("flexion", "bend")
    theirs = opensim("places", path=path, values=names)["markers"]
    assert_allclose(placed(model, q, model.markers[0]), theirs["KNE"], atol=1e-14)


def placed(model, q, marker):
    from homodyn.dynamics import position

    return position(model, q, marker.name)


def test_markers_contacts_and_meshes_are_kept(leg):
    model = load(leg())
    assert_allclose(model.gravity, [0, -9.80665, 0])
    assert [marker.name for marker in model.markers] == ["KNE", "shank_2"]
    assert_allclose(model.markers[0].position, [0, -0.39, 0.05])
    assert model.markers[0].body == "thigh"
    heel, knee = model.contacts
    assert (heel.name, heel.kind, heel.body, heel.radius) == ("heel", "sphere", "shank", 0.03)
    assert knee.name == "KNE_contact"
    (bone,) = model.meshes
    assert (bone.body, bone.file, bone.scale.tolist()) == ("thigh", "femur.vtp", [1, 1.1, 1])


def test_coordinates_keep_ranges_locks_and_springs(leg):
    model = load(leg())
    flexion, bend = model.coordinates
    assert (flexion.default, flexion.lower, flexion.upper, flexion.locked) == (0.2, -1, 2, True)
    assert model.joint("hip").notes == {"clamped": ["flexion"]}
    assert model.joint("groove").coordinates[0].upper == np.inf
    # Two springs: 3 (-0.5 - q) + (-0.1 - q) = 4 (-0.4 - q).
    assert (bend.stiffness, bend.rest) == pytest.approx((4, -0.4))
    assert bend.damping == pytest.approx(0.3)


def test_couplers_are_kept_and_their_massless_followers_are_valid(leg):
    (coupler,) = load(leg()).couplers
    assert (coupler.coordinate, coupler.of) == ("glide", "bend")
    assert coupler.function == Linear(0.1, 0.02)
    assert implausibilities(load(leg(), as_measured=False)) == []


def test_a_massless_body_that_moves_freely_is_implausible_and_can_be_refused(leg):
    loose = leg(
        LEG.replace("<isEnforced>false", "<isEnforced>false").replace(
            "<scale_factor>1</scale_factor>", "<isEnforced>false</isEnforced>"
        )
    )
    assert any(
        "'patella' and the bodies beyond it have no mass" in d
        for d in implausibilities(load(loose))
    )
    with pytest.raises(ModelError, match="'patella' and the bodies beyond it have no mass"):
        load(loose, as_measured=False)


def test_muscles_ligaments_and_wraps_are_kept_as_data(leg):
    model = load(leg())
    (rectus,), (acl,) = model.muscles, model.ligaments
    assert (rectus.kind, rectus.max_isometric_force) == ("Thelen2003Muscle", 1200)
    assert (rectus.optimal_fiber_length, rectus.tendon_slack_length) == (0.11, 0.3)
    assert (rectus.pennation_angle, rectus.max_contraction_velocity) == (0.1, 10)
    assert rectus.settings == {
        "FmaxTendonStrain": 0.04,
        "ignore_tendon_compliance": True,
        "ActiveForceLengthCurve.minimum_value": 0.1,
    }
    first, second, third = rectus.points
    assert (first.body, first.when, first.laws) == ("world", None, ())
    assert (second.when.coordinate, second.when.lower, second.when.upper) == ("bend", -2, -1)
    assert_allclose(third.position, [0, 0, 0.03])
    assert [(law.axis, law.coordinate) for law in third.laws] == [("x", "bend"), ("y", "bend")]
    assert third.laws[0].function == Spline((-2, -1, 0), (0.1, 0.2, 0.1), "simm")
    assert third.laws[1].function == ScaledFunction(Polyline((-2, 0), (0, 1)), 0.5)
    (use,) = rectus.wraps
    assert (use.wrap, use.method, use.first, use.last) == ("condyle", "midpoint", 2, 3)
    assert (acl.kind, len(acl.points), acl.settings) == ("Ligament", 2, {"resting_length": 0.03})
    wraps = {wrap.name: wrap for wrap in model.wraps}
    assert {name: wrap.kind for name, wrap in wraps.items()} == {
        "ball": "sphere",
        "condyle": "cylinder",
        "pad": "ellipsoid",
    }
    assert wraps["ball"].body == "world"
    condyle = wraps["condyle"]
    assert (condyle.dimensions, condyle.quadrant, condyle.active) == ((0.03, 0.1), "-x", False)
    # The cylinder's axis, z turned by 0.5 rad about y.
    assert_allclose(condyle.placement.E.T[:, 2], [np.sin(0.5), 0, np.cos(0.5)])


def test_notes_list_what_is_not_used(leg):
    assert load(leg()).notes == (
        "the axes of the world are those of the file; gravity is [0.0, -9.80665, 0.0] m/s2",
        "coordinate 'bend': its prescribed function of time is not used",
        "marker 'shank' is renamed 'shank_2': the name is taken",
        "contact 'KNE' is renamed 'KNE_contact': the name is taken",
        "ContactHalfSpace 'floor' is not used",
        "WeldConstraint 'glue' is not used",
        "PointConstraint 'off' is disabled in the file and not used",
        "WrapCone 'cone' is not kept: its kind is unknown",
        "kept as data, without forces: 1 muscle, 1 ligament, 3 wrap objects",
        "not used: 1 x CoordinateActuator",
        "drawing shapes not kept: 1 x Brick",
        "<ControllerSet> is not used: 1 of ToyController",
    )


def test_muscles_enter_the_digest(leg):
    model = load(leg())
    stronger = load(leg(LEG.replace("1200", "1201")))
    assert model.digest != stronger.digest
    assert model == load(leg())


def test_a_muscle_that_cannot_be_represented_is_left_out_with_its_line(leg):
    model = load(leg(LEG.replace("PiecewiseLinearFunction", "StepFunction")))
    assert model.muscles == ()
    (note,) = [note for note in model.notes if "rectus" in note]
    assert "the function StepFunction cannot be represented; accepted: Constant" in note
    line = next(k for k, text in enumerate(LEG.splitlines(), 1) if "<Piecewise" in text)
    assert f"line {line}, <StepFunction>" in note


def test_bodies_and_joints_may_be_components(leg):
    text = LEG.replace("<JointSet ", "<components>").replace('name="jointset">', "", 1)
    text = text.replace("<objects>\n        <PinJoint", "\n        <PinJoint", 1)
    text = text.replace("</objects>\n    </JointSet>", "<TableReporter/></components>")
    model = load(leg(text))
    assert model.joints == load(leg()).joints
    assert "<components> is not used: 1 of TableReporter" in model.notes


def test_newer_versions_are_read_with_a_note(leg):
    model = load(leg(LEG.replace('"40500"', '"50000"')))
    assert model.notes[0] == "version 50000 of the file is newer than 40600"
    assert model.joints == load(leg()).joints


def test_units_are_meters_whatever_the_label_says(leg):
    model = load(leg(LEG.replace("<credits>", "<length_units>feet</length_units><credits>")))
    assert model.notes[1] == "lengths are read as meters, as in OpenSim; the file declares feet"


def test_slips_of_xml_that_opensim_forgives_are_forgiven(tmp_path):
    path = tmp_path / "slips.osim"
    comment = "<credits>nobod\u00ff -- <!-- a -- b\n -- c --></credits>"
    path.write_bytes(LEG.replace("<credits>nobody</credits>", comment).encode("latin-1"))
    assert load(path).name == "leg"
    broken = LEG.replace("<credits>nobody</credits>", comment).replace("<mass>8", "<mass>?")
    path.write_bytes(broken.encode("latin-1"))
    with pytest.raises(FormatError, match="line 15, <mass>"):
        load(path)


def test_a_second_coordinate_of_a_name_gets_that_of_its_joint(leg):
    model = load(leg(LEG.replace('"flexion"', '"bend"')))
    assert model.coordinate_names == ("bend", "knee_bend")
    assert any("is renamed 'knee_bend': the name is taken" in note for note in model.notes)


def test_impossible_inertias_are_accepted_and_implausible(leg):
    odd = leg(LEG.replace("0.1 0.02 0.1 0 0 0", "0.1 -0.02 0.1 0 0 0"))
    assert any("negative principal moment" in doubt for doubt in implausibilities(load(odd)))
    with pytest.raises(ModelError, match="negative principal moment"):
        load(odd, as_measured=False)


def test_xml_is_recognized_and_a_base_is_not_for_opensim(leg):
    assert load(leg(name="leg.xml")) == load(leg())
    with pytest.raises(FormatError, match="base does not apply to OpenSim files"):
        load(leg(), base="free")
    assert read_osim(leg()).name == "leg"


KNEE = '<PinJoint name="knee">'
GLIDE = "<independent_coordinate_names>bend</independent_coordinate_names>"
SPIN = """<CustomJoint name="knee"><SpatialTransform><TransformAxis name="rotation1">
 <coordinates>bend</coordinates><axis>0 0 1</axis>{}</TransformAxis></SpatialTransform>"""
LINE = '<LinearFunction name="function"><coefficients>1 0</coefficients></LinearFunction>'


def custom(inner: str) -> str:
    """The leg with a custom knee."""
    head, _, rest = LEG.partition(KNEE)
    knee, _, tail = rest.partition("</PinJoint>")
    return head + SPIN.format(inner) + knee + "</CustomJoint>" + tail


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not complete XML"),
        ("hello", "not complete XML"),
        (LEG[:4000], "not complete XML"),
        (LEG.replace("OpenSimDocument", "Other"), "starts with <OpenSimDocument>"),
        (
            LEG.replace('"40500"', '"10500"'),
            "version 10500 is too old; the oldest accepted is 10901",
        ),
        (LEG.replace('"40500"', '"four"'), "Version must be a whole number"),
        (
            LEG.replace("<Model ", "<Tool ").replace("</Model>", "</Tool>"),
            "contains no <Model> but",
        ),
        (
            LEG.replace("<mass>8</mass>", "<mass>heavy</mass>"),
            "line 14, <mass>: numbers are expected",
        ),
        (LEG.replace("<mass>8</mass>", "<mass>-8</mass>"), "mass of 'thigh' must be zero or more"),
        (LEG.replace("<mass>8</mass>", "<mass>nan</mass>"), "line 14, <mass>: .*1 finite numbers"),
        (LEG.replace("0 -0.2 0", "0 -0.2", 1), "3 finite numbers are expected, got '0 -0.2'"),
        (
            LEG.replace('<Body name="patella">', '<Body name="shank">'),
            "there is another body 'shank'",
        ),
        (LEG.replace('<Body name="patella">', "<Body>"), "no attribute 'name'"),
        (LEG.replace("<mass>0</mass>", ""), "<Body>: a <mass> is missing inside"),
        (LEG.replace('"groove"', '"knee"'), "there is another joint 'knee'"),
        (
            LEG.replace("SliderJoint", "EllipsoidJoint"),
            "line 59, <EllipsoidJoint>: the joint EllipsoidJoint cannot be represented; accepted",
        ),
        (LEG.replace("SliderJoint", "ScapulothoracicJoint"), "the joint ScapulothoracicJoint cann"),
        (LEG.replace("SliderJoint", "MagicJoint"), "the joint MagicJoint cannot be represented"),
        (LEG.replace("SliderJoint", "PlanarJoint"), "a PlanarJoint has 3 coordinates, got 1"),
        (LEG.replace("/bodyset/patella", "/bodyset/patela"), "did you mean 'patella'"),
        (
            LEG.replace("<socket_parent>/bodyset/thigh", "<socket_parent>thigh_offset"),
            "this frame refers to itself",
        ),
        (
            LEG.replace("<socket_child_frame>/bodyset/shank", "<socket_child_frame>thigh_offset"),
            "it connects 'thigh' to itself",
        ),
        (
            LEG.replace("<socket_child_frame>/bodyset/patella", "<socket_child_frame>/ground"),
            "it closes a loop",
        ),
        (
            LEG.replace(
                "/ground</socket_parent_frame>\n          <socket_child",
                "/bodyset/shank</socket_parent_frame>\n          <socket_child",
            ),
            "a loop that is not connected to 'ground'|closes a loop",
        ),
        (LEG.replace("<range>-1 2</range>", "<range>2 -1</range>"), "two numbers in order"),
        (LEG.replace("<range>-1 2</range>", "<range>2</range>"), "two numbers in order"),
        (LEG.replace("<locked>true", "<locked>maybe"), "true or false is expected, got 'maybe'"),
        (
            LEG.replace(GLIDE, GLIDE.replace(">bend<", ">bend flexion<")),
            "'glide' depends on 2 coordi",
        ),
        (LEG.replace(GLIDE, GLIDE.replace(">bend<", ">bent<")), "no coordinate 'bent'; did you"),
        (LEG.replace(GLIDE, GLIDE.replace(">bend<", ">glide<")), "follows itself"),
        (LEG.replace("0.1 0.02</coeff", "0.1</coeff"), "has 2 coefficients, got 1"),
        (custom(LINE.replace("LinearFunction", "GCVSpline")), "function GCVSpline cannot be rep"),
        (custom(LINE.replace("LinearFunction", "Sine")), "function Sine cannot be represented"),
        (
            custom('<SimmSpline name="function"><x>0 0 1</x><y>1 2 3</y></SimmSpline>'),
            "<SimmSpline>: spline: knots must be finite and x must increase",
        ),
        (
            custom('<SimmSpline name="function"><x>0 1</x><y>1 2 3</y></SimmSpline>'),
            "the same number of knots",
        ),
        (custom(LINE).replace("<coordinates>bend<", "<coordinates>bend flexion<"), "no coordinate"),
        (custom(LINE).replace("<coordinates>bend<", "<coordinates><"), "has no coordinate"),
        (custom(LINE).replace("<axis>0 0 1", "<axis>0 0 0"), "axis must not be zero"),
        (custom(LINE).replace('"rotation1"', '"rotation4"'), "no axis 'rotation4'; did you mean"),
        (custom(""), "no axis moves with its coordinate 'bend'"),
        (custom("<MultiplierFunction name='function'/>"), "needs a <function> inside"),
        (
            custom(
                "<function>" * 1
                + "<MultiplierFunction><function>" * 200
                + "</function></MultiplierFunction>" * 200
                + "</function>"
            ),
            "needs a <function> inside|nested too deeply",
        ),
        (
            LEG.replace("<radius>0.03</radius></Contact", "</Contact"),
            "a <radius> is missing inside",
        ),
        (
            LEG.replace('<MarkerSet name="markerset">', '<MarkerSet file="markers.xml">'),
            "its content is in another file",
        ),
        (LEG.replace("<?xml version", "<!DOCTYPE a []><?xml version"), "not complete XML|DOCTYPE"),
    ],
)
def test_errors_name_file_and_place(leg, text, words):
    path = leg(text)
    with pytest.raises(HomodynError, match=words) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_couplers_of_couplers_follow_the_coordinate_at_the_end(leg):
    second = """<CoordinateCouplerConstraint name="too">
      <coupled_coordinates_function>{}</coupled_coordinates_function>
      <independent_coordinate_names>flexion</independent_coordinate_names>
      <dependent_coordinate_name>bend</dependent_coordinate_name>
      </CoordinateCouplerConstraint><WeldConstraint name="glue"/>"""
    glue = '<WeldConstraint name="glue"/>'
    line = "<LinearFunction><coefficients>2 0.5</coefficients></LinearFunction>"
    glide, _ = load(leg(LEG.replace(glue, second.format(line)))).couplers
    assert (glide.coordinate, glide.of) == ("glide", "flexion")
    assert glide.function == Linear(0.2, 0.1 * 0.5 + 0.02)
    curve = "<SimmSpline><x>-1 0 2</x><y>0 1 2</y></SimmSpline>"
    with pytest.raises(FormatError, match="for linear functions only"):
        load(leg(LEG.replace(glue, second.format(curve))))


def refusal(path) -> str:
    """The one error that a file gives, or nothing."""
    try:
        load(path)
    except HomodynError as error:
        return str(error)
    return ""


def test_noise_in_the_bytes_gives_one_error_or_a_model(tmp_path):
    rng = np.random.default_rng(5)
    content = np.frombuffer(LEG.encode(), dtype=np.uint8)
    path = tmp_path / "noise.osim"
    for _ in range(100):
        bad = content.copy()
        bad[rng.integers(0, len(bad), 2)] = rng.integers(32, 127, 2)
        path.write_bytes(bad.tobytes())
        words = refusal(path)
        assert not words or str(path) in words


def test_any_value_may_be_wrong(tmp_path):
    rng = np.random.default_rng(6)
    path = tmp_path / "wrong.osim"
    values = [match.span(1) for match in re.finditer(">([^<>]*\\S[^<>]*)<", LEG)]
    refused = 0
    for start, end in values:
        for word in rng.choice(["", "nan", "-1", "1e999", "x y", "0 0 0 0", "thigh"], 2):
            path.write_text(LEG[:start] + word + LEG[end:])
            words = refusal(path)
            assert not words or str(path) in words
            refused += bool(words)
    assert refused > len(values) / 2


def test_any_element_may_be_missing(tmp_path):
    path = tmp_path / "gap.osim"
    gaps = [match.span() for match in re.finditer("<(\\w+)[^<>]*>[^<>]*</\\1>", LEG)]
    for start, end in gaps:
        path.write_text(LEG[:start] + LEG[end:])
        words = refusal(path)
        assert not words or str(path) in words


def test_huge_files_are_refused_before_they_cost_anything(tmp_path):
    path = tmp_path / "huge.osim"
    with path.open("wb") as file:
        file.truncate(100 * 2**20)
    with pytest.raises(FormatError, match="100 MB is too large"):
        load(path)


def test_elements_by_the_million_are_refused_before_they_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(xml, "MAX_XML_ELEMENTS", 5000)
    path = tmp_path / "many.osim"
    path.write_text("<OpenSimDocument Version='40000'>\n" + "<a/>" * 6000 + "</OpenSimDocument>")
    with pytest.raises(FormatError, match="line 2: it has more than 5000 elements"):
        load(path)


def test_bodies_by_the_ten_thousand_are_refused(tmp_path):
    path = tmp_path / "crowd.osim"
    bodies = "".join(f"<Body name='b{k}'><mass>1</mass></Body>" for k in range(10_001))
    path.write_text(LEG.replace('<Body name="thigh">', f'{bodies}<Body name="thigh">'))
    with pytest.raises(FormatError, match="10004 bodies are too many"):
        load(path)


def test_compressed_files_are_no_xml(tmp_path):
    path = tmp_path / "zipped.osim"
    for packed in (gzip.compress(LEG.encode()), zlib.compress(LEG.encode())):
        path.write_bytes(packed)
        with pytest.raises(FormatError, match=r"not complete XML|not XML"):
            load(path)
