"""OpenSim files of a ball on the ground, with both kinds of contact forces."""

_PARAMETERS = """
  <stiffness>1000000</stiffness><dissipation>2</dissipation>
  <static_friction>0.9</static_friction><dynamic_friction>0.6</dynamic_friction>
  <viscous_friction>0.5</viscous_friction>
"""
_SMOOTH = f"""
<SmoothSphereHalfSpaceForce name="force">
  <socket_sphere>/contactgeometryset/skin</socket_sphere>
  <socket_half_space>/contactgeometryset/floor</socket_half_space>{_PARAMETERS}
  <transition_velocity>0.15</transition_velocity>
</SmoothSphereHalfSpaceForce>
"""
_HUNT_CROSSLEY = f"""
<HuntCrossleyForce name="force">
  <HuntCrossleyForce::ContactParametersSet name="contact_parameters"><objects>
    <HuntCrossleyForce::ContactParameters><geometry>skin floor</geometry>{_PARAMETERS}
    </HuntCrossleyForce::ContactParameters>
  </objects></HuntCrossleyForce::ContactParametersSet>
  <transition_velocity>0.15</transition_velocity>
</HuntCrossleyForce>
"""
_FILE = """<?xml version="1.0" encoding="UTF-8"?>
<OpenSimDocument Version="40500"><Model name="ball">
<Ground name="ground"/>
<gravity>0 -9.80665 0</gravity>
<BodySet name="bodyset"><objects>
  <Body name="ball"><mass>2</mass><mass_center>0 0 0</mass_center>
  <inertia>0.008 0.008 0.008 0 0 0</inertia></Body>
</objects></BodySet>
<JointSet name="jointset"><objects>
  <CustomJoint name="root">
    <socket_parent_frame>/ground</socket_parent_frame>
    <socket_child_frame>/bodyset/ball</socket_child_frame>
    <coordinates>
      <Coordinate name="rx"/><Coordinate name="ry"/><Coordinate name="rz"/>
      <Coordinate name="tx"/><Coordinate name="ty"/><Coordinate name="tz"/>
    </coordinates>
    <SpatialTransform>AXES</SpatialTransform>
  </CustomJoint>
</objects></JointSet>
<ForceSet name="forceset"><objects>FORCE</objects></ForceSet>
<ContactGeometrySet name="contactgeometryset"><objects>
  <ContactSphere name="skin"><socket_frame>/bodyset/ball</socket_frame>
    <location>0.02 -0.03 0.01</location><radius>0.1</radius></ContactSphere>
  <ContactHalfSpace name="floor"><socket_frame>/ground</socket_frame>
    <location>0 0.02 0</location><orientation>0.1 0.05 -1.5</orientation></ContactHalfSpace>
</objects></ContactGeometrySet>
</Model></OpenSimDocument>
"""
_AXES = "".join(
    f"""<TransformAxis name="{kind}{k + 1}"><coordinates>{name}{axis}</coordinates>
    <axis>{" ".join(str(int(k == i)) for i in range(3))}</axis>
    <LinearFunction name="function"><coefficients>1 0</coefficients></LinearFunction>
    </TransformAxis>"""
    for kind, name in (("rotation", "r"), ("translation", "t"))
    for k, axis in enumerate("xyz")
)


def _write(path, force):
    path.write_text(_FILE.replace("FORCE", force).replace("AXES", _AXES), encoding="utf-8")
    return path


def smooth_file(path):
    """Write a file with a SmoothSphereHalfSpaceForce on sloping ground; returns the path."""
    return _write(path, _SMOOTH)


def hunt_crossley_file(path):
    """Write a file with a HuntCrossleyForce on sloping ground; returns the path."""
    return _write(path, _HUNT_CROSSLEY)
