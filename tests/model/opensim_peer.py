"""OpenSim as an oracle, in a process of its own: its libraries and CasADi's wheel cannot share one.

Reads one request a line as JSON, ``{"ask": name, ...}``, and answers each with a line of JSON.
"""

import json
import os
import sys

import opensim


def spline(x, y, points):
    """Value, slope and curvature of a SimmSpline at the points."""
    function = opensim.SimmSpline()
    for knot in zip(x, y, strict=True):
        function.addPoint(*knot)
    orders = [opensim.StdVectorInt([0] * order) for order in (1, 2)]
    rows = []
    for point in points:
        at = opensim.Vector(1, point)
        rows.append([function.calcValue(at), *(function.calcDerivative(o, at) for o in orders)])
    return rows


def run_tool(setup):
    """Run the InverseDynamicsTool in a setup file, in the folder of that file."""
    folder = os.getcwd()
    os.chdir(os.path.dirname(setup))
    try:
        if not opensim.InverseDynamicsTool(os.path.basename(setup)).run():
            raise RuntimeError("the tool failed")
    finally:
        os.chdir(folder)


class Peer:
    """A model as OpenSim reads it; forces are switched off, constraints are not enforced."""

    def __init__(self, path):
        self.path = path
        self.model = opensim.Model(path)
        self.state = self.model.initSystem()
        forces = self.model.updForceSet()
        for k in range(forces.getSize()):
            forces.get(k).setAppliesForce(self.state, False)
        for k in range(self.model.getConstraintSet().getSize()):
            self.model.updConstraintSet().get(k).setIsEnforced(self.state, False)
        coordinates = self.model.getCoordinateSet()
        self.coordinates = [coordinates.get(k) for k in range(coordinates.getSize())]
        for coordinate in self.coordinates:
            coordinate.setLocked(self.state, False)
        # Where a coordinate stands in the state: found by setting distinct numbers.
        marks = {c.getName(): 0.001 * (k + 1) for k, c in enumerate(self.coordinates)}
        self.pose(marks, marks)
        self.in_u = {name: index(self.state.getU(), mark) for name, mark in marks.items()}
        self.in_q = {name: index(self.state.getQ(), mark) for name, mark in marks.items()}

    def about(self):
        """Mass, gravity and what is known of the coordinates."""
        return {
            "name": self.model.getName(),
            "mass": self.model.getTotalMass(self.state),
            "gravity": three(self.model.getGravity()),
            "coordinates": {
                c.getName(): {
                    "default": c.getDefaultValue(),
                    "range": [c.getRangeMin(), c.getRangeMax()],
                    "locked": c.getDefaultLocked(),
                    "clamped": c.getDefaultClamped(),
                }
                for c in self.coordinates
            },
        }

    def pose(self, values, speeds=None):
        """Set coordinates by name, and speeds."""
        for c in self.coordinates:
            c.setValue(self.state, values[c.getName()], False)
            c.setSpeedValue(self.state, (speeds or {}).get(c.getName(), 0.0))

    def places(self, values):
        """Center of mass, markers and bodies (position, rotation matrix by rows)."""
        self.pose(values)
        self.model.realizePosition(self.state)
        markers, bodies = self.model.getMarkerSet(), self.model.getBodySet()
        return {
            "center": three(self.model.calcMassCenterPosition(self.state)),
            "markers": {
                markers.get(k).getName(): three(markers.get(k).getLocationInGround(self.state))
                for k in range(markers.getSize())
            },
            "bodies": {
                bodies.get(k).getName(): placement(bodies.get(k), self.state)
                for k in range(bodies.getSize())
            },
        }

    def muscles(self):
        """Class and numbers of every muscle."""
        found, muscles = {}, self.model.getMuscles()
        for k in range(muscles.getSize()):
            muscle = muscles.get(k)
            found[muscle.getName()] = {
                "kind": muscle.getConcreteClassName(),
                "max_isometric_force": muscle.getMaxIsometricForce(),
                "optimal_fiber_length": muscle.getOptimalFiberLength(),
                "tendon_slack_length": muscle.getTendonSlackLength(),
                "pennation_angle": muscle.getPennationAngleAtOptimalFiberLength(),
                "max_contraction_velocity": muscle.getMaxContractionVelocity(),
            }
        return found

    def lengths(self, values):
        """Length of every muscle from its origin to its insertion."""
        self.pose(values)
        self.model.realizePosition(self.state)
        muscles = self.model.getMuscles()
        return {
            muscles.get(k).getName(): muscles.get(k).getLength(self.state)
            for k in range(muscles.getSize())
        }

    def torques(self, values, speeds, accelerations):
        """Generalized forces by coordinate."""
        self.pose(values, speeds)
        self.model.realizeDynamics(self.state)
        udot = opensim.Vector(len(self.in_u), 0.0)
        for name, k in self.in_u.items():
            udot.set(k, accelerations[name])
        found = opensim.InverseDynamicsSolver(self.model).solve(self.state, udot)
        return {name: found.get(k) for name, k in self.in_u.items()}

    def station(self, body, point, values, speeds):
        """Position, velocity and acceleration without forces' share (bias) of a point of a body."""
        self.pose(values, speeds)
        self.model.realizeVelocity(self.state)
        body, point = self.model.getBodySet().get(body), opensim.Vec3(*point)
        bias = self.model.getMatterSubsystem().calcBiasForStationJacobian(
            self.state, body.getMobilizedBodyIndex(), point
        )
        return [
            three(body.findStationLocationInGround(self.state, point)),
            three(body.findStationVelocityInGround(self.state, point)),
            three(bias),
        ]

    def followed(self, motion, cutoff):
        """Times of a file of coordinates, filtered, padded and splined as for inverse dynamics.

        The same steps as in OpenSim's InverseDynamicsTool; values, speeds and accelerations.
        """
        stored = opensim.Storage(motion)
        if cutoff > 0:
            stored.pad(stored.getSize() // 2)
            stored.lowpassIIR(cutoff)
        if stored.isInDegrees():
            self.model.getSimbodyEngine().convertDegreesToRadians(stored)
        splines = opensim.GCVSplineSet(5, stored)
        orders = [opensim.StdVectorInt([0] * order) for order in (1, 2)]
        found = {"times": []}
        times = opensim.ArrayDouble()
        stored.getTimeColumn(times)
        found["times"] = [times.get(k) for k in range(times.getSize())]
        for coordinate in self.coordinates:
            spline = splines.get(coordinate.getName())
            rows = []
            for time in found["times"]:
                at = opensim.Vector(1, time)
                rows.append([spline.calcValue(at), *(spline.calcDerivative(o, at) for o in orders)])
            found[coordinate.getName()] = rows
        return found

    def inverse_dynamics(self, motion, cutoff, loads, times, to):
        """Run OpenSim's tool and have it write its results."""
        tool = opensim.InverseDynamicsTool()
        model = opensim.Model(self.path)
        tool.setModel(model)
        tool.setCoordinatesFileName(motion)
        tool.setLowpassCutoffFrequency(cutoff)
        if loads:
            tool.setExternalLoadsFileName(loads)
        tool.setStartTime(times[0])
        tool.setEndTime(times[1])
        excluded = opensim.ArrayStr()
        excluded.append("Muscles")
        tool.setExcludedForces(excluded)
        tool.setResultsDir(os.path.dirname(to))
        tool.setOutputGenForceFileName(os.path.basename(to))
        if not tool.run():
            raise RuntimeError("the tool failed")

    def differences(self, other, poses, speeds, accelerations):
        """Largest differences from another file over poses; masses and forces relative."""
        peer = Peer(other)
        worst = {"inertia": 0.0, "place": 0.0, "force": 0.0, "length": 0.0}
        for body in names(self.model.getBodySet()):
            mine, yours = (p.model.getBodySet().get(body) for p in (self, peer))
            numbers = [
                (b.getMass(), *three(b.getMassCenter()), *six(b.get_inertia()))
                for b in (mine, yours)
            ]
            apart = largest(*numbers) / max(map(abs, numbers[0]))
            worst["inertia"] = max(worst["inertia"], apart)
        for values, v, a in zip(poses, speeds, accelerations, strict=True):
            here, there = self.places(values), peer.places(values)
            for group in ("markers", "bodies"):
                assert set(here[group]) == set(there[group]), group
                for name in here[group]:
                    apart = largest(flat(here[group][name]), flat(there[group][name]))
                    worst["place"] = max(worst["place"], apart)
            mine, yours = self.lengths(values), peer.lengths(values)
            assert set(mine) == set(yours)
            apart = largest(mine.values(), yours.values())
            worst["length"] = max(worst["length"], apart)
            if v is not None:
                mine, yours = self.torques(values, v, a), peer.torques(values, v, a)
                scale = max(map(abs, mine.values()))
                apart = max(abs(mine[name] - yours[name]) for name in mine)
                worst["force"] = max(worst["force"], apart / scale)
        return worst

    def scale(self, factors, to):
        """Write the model scaled by factors for the axes of its bodies."""
        model = opensim.Model(self.path)
        state = model.initSystem()
        scales = opensim.ScaleSet()
        for body, xyz in factors.items():
            scale = opensim.Scale()
            scale.setSegmentName(body)
            scale.setScaleFactors(opensim.Vec3(*xyz))
            scale.setApply(True)
            scales.cloneAndAppend(scale)
        model.scale(state, scales, False, model.getTotalMass(state))
        model.printToXML(to)

    def upgrade(self, to):
        """Write the model in OpenSim's own version."""
        self.model.printToXML(to)

    def rates(self, values, speeds):
        """Rates of the coordinates at the speeds: the same numbers, but for balls."""
        self.pose(values, speeds)
        self.model.realizeVelocity(self.state)
        return {name: self.state.getQDot().get(k) for name, k in self.in_q.items()}


def index(vector, value):
    """The entry of a vector that has a value."""
    return next(k for k in range(vector.size()) if abs(vector.get(k) - value) < 1e-12)


def names(components):
    """Names of the components of a set."""
    return [components.get(k).getName() for k in range(components.getSize())]


def flat(place):
    """All numbers of nested lists."""
    return [n for part in place for n in flat(part)] if isinstance(place, list) else [place]


def largest(mine, yours):
    """Largest difference of two sequences of numbers."""
    return max((abs(a - b) for a, b in zip(mine, yours, strict=True)), default=0.0)


def six(vector):
    """A Vec6 as a list."""
    return [vector.get(k) for k in range(6)]


def three(vector):
    """A Vec3 as a list."""
    return [vector.get(k) for k in range(3)]


def placement(body, state):
    """Position and rotation matrix (rows) of a body in ground."""
    transform = body.getTransformInGround(state)
    rotation = transform.R()
    return [three(transform.p()), [[rotation.get(i, j) for j in range(3)] for i in range(3)]]


def main():
    """Answer requests until the input ends."""
    opensim.Logger.setLevelString("off")
    # What the libraries print goes beside the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    peers = {}
    for line in sys.stdin:
        request = json.loads(line)
        ask = request.pop("ask")
        try:
            if ask in ("spline", "run_tool"):
                answer = {"spline": spline, "run_tool": run_tool}[ask](**request)
            else:
                path = request.pop("path")
                if path not in peers:
                    peers[path] = Peer(path)
                answer = getattr(peers[path], ask)(**request)
            reply = {"answer": answer}
        except (RuntimeError, ValueError) as error:
            reply = {"error": str(error)}
        print(json.dumps(reply), file=answers, flush=True)


if __name__ == "__main__":
    main()
