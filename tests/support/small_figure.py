"""A small human figure that is quick to simulate: trunk, two stiff legs and two arms."""

from homodyn.model import Assembly, box, joints, rod

LEG, ARM, FOOT = 0.4, 0.3, (0.24, 0.1, 0.06)


def small_figure():
    """Root, hips and knees about the lateral axis, and shoulders and elbows; markers on all."""
    figure = Assembly("figure").add(
        box("pelvis", 30.0, (0.2, 0.3, 0.5)), joints.free(), joint_name="root"
    )
    for k, place in enumerate(
        [(0.1, 0.15, 0.25), (0.1, -0.15, 0.25), (-0.1, 0, 0.2), (0, 0, -0.2)]
    ):
        figure = figure.marker(f"P{k}", "pelvis", place)
    for side, sign in (("right", -1), ("left", 1)):
        thigh, foot, arm, hand = (f"{side}_{name}" for name in ("thigh", "foot", "arm", "hand"))
        hip, shoulder = (0, 0.1 * sign, -0.25), (0, 0.2 * sign, 0.2)
        hinges = {
            name: joints.revolute("y", names=[name]) for name in (f"{side}_hip", f"{side}_knee")
        }
        figure = figure.add(
            rod(thigh, 7.0, (0, 0, 0), (0, 0, -LEG)), hinges[f"{side}_hip"], "pelvis", at=hip
        )
        figure = figure.add(
            rod(foot, 4.0, (0, 0, 0), (0, 0, -LEG)), hinges[f"{side}_knee"], thigh, at=(0, 0, -LEG)
        )
        figure = figure.contact(
            f"{side}_sole", foot, "box", size=FOOT, position=(0.04, 0, -LEG - FOOT[2] / 2)
        )
        turns = joints.universal("y", "x", names=[f"{side}_swing", f"{side}_lift"])
        figure = figure.add(rod(arm, 2.0, (0, 0, 0), (0, 0, -ARM)), turns, "pelvis", at=shoulder)
        bend = joints.revolute("y", names=[f"{side}_elbow"])
        figure = figure.add(rod(hand, 1.5, (0, 0, 0), (0, 0, -ARM)), bend, arm, at=(0, 0, -ARM))
        for body, places in {
            thigh: [(0.05, 0.05 * sign, -0.2)],
            foot: [(0.15, 0, -LEG), (-0.08, 0.03, -LEG), (0.03, 0.05 * sign, -0.1)],
            arm: [(0.03, 0.03 * sign, -0.15)],
            hand: [(0.02, 0, -0.1), (0, 0.03 * sign, -ARM)],
        }.items():
            for k, place in enumerate(places):
                figure = figure.marker(f"{body}{k}", body, place)
    return figure.model()
