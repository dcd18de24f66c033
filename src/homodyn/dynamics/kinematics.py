"""Position, velocity, acceleration and Jacobians of points, in world axes at the named point."""

from __future__ import annotations

import casadi as ca
import numpy as np

from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.model.state_function import state_function
from homodyn.spatial import Array, ArrayInput, ParameterValues, Transform, cross


@state_function(q="nq", point=3, returns={"position": 3})
def position(
    model: Model,
    q: ArrayInput,
    frame: str,
    point: ArrayInput | None = None,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """World position of a point.

    Args:
        model: The model.
        q: Positions, (..., nq).
        frame: Name of a body, frame, marker or contact.
        point: Point (m, axes of the frame), (..., 3); the origin of the frame by default.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., 3), m.

    Raises:
        ModelError: The model has no frame of that name.
        KernelError: An array has the wrong shape or type.
    """
    tree = Tree(model, q)
    body, local = attached_point(model, frame, point)
    return local if body < 0 else tree.placements[body].point_back(local)


@state_function(q="nq", returns={"orientation": (3, 3)})
def orientation(
    model: Model,
    q: ArrayInput,
    frame: str,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Rotation matrix of a frame: its columns are the axes of the frame in the world.

    Args:
        model: The model.
        q: Positions, (..., nq).
        frame: Name of a body, frame, marker or contact.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., 3, 3).

    Raises:
        ModelError: The model has no frame of that name.
        KernelError: An array has the wrong shape or type.
    """
    body, placement = model.locate(frame)
    return (placement.E if body < 0 else placement.E @ Tree(model, q).placements[body].E).T


@state_function(q="nq", v="nv", point=3, returns={"velocity": 3})
def velocity(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    frame: str,
    point: ArrayInput | None = None,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """World velocity of a point.

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        frame: Name of a body, frame, marker or contact.
        point: Point (m, axes of the frame), (..., 3); the origin of the frame by default.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., 3), m/s.

    Raises:
        ModelError: The model has no frame of that name.
        KernelError: An array has the wrong shape or type.
    """
    body, local = attached_point(model, frame, point)
    return np.zeros(3) if body < 0 else point_velocity(Tree(model, q, v), body, local)


@state_function(q="nq", v="nv", returns={"velocity": 3})
def angular_velocity(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    frame: str,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """World angular velocity of a frame.

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        frame: Name of a body, frame, marker or contact.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., 3), rad/s.

    Raises:
        ModelError: The model has no frame of that name.
        KernelError: An array has the wrong shape or type.
    """
    body, _ = model.locate(frame)
    if body < 0:
        return np.zeros(3)
    tree = Tree(model, q, v)
    return tree.placements[body].E.T @ tree.velocities[body][:3]


@state_function(q="nq", v="nv", a="nv", point=3, returns={"acceleration": 3})
def acceleration(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    a: ArrayInput,
    frame: str,
    point: ArrayInput | None = None,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """World acceleration of a point: the rate of change of its velocity.

    Gravity is not included.

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        a: Accelerations, (..., nv).
        frame: Name of a body, frame, marker or contact.
        point: Point (m, axes of the frame), (..., 3); the origin of the frame by default.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., 3), m/s2.

    Raises:
        ModelError: The model has no frame of that name.
        KernelError: An array has the wrong shape or type.
    """
    body, local = attached_point(model, frame, point)
    if body < 0:
        return np.zeros(3)
    tree = Tree(model, q, v)
    return point_acceleration(tree, tree.accelerations(a, gravity=False), body, local)


@state_function(q="nq", v="nv", a="nv", returns={"acceleration": 3})
def angular_acceleration(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    a: ArrayInput,
    frame: str,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """World angular acceleration of a frame.

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        a: Accelerations, (..., nv).
        frame: Name of a body, frame, marker or contact.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., 3), rad/s2.

    Raises:
        ModelError: The model has no frame of that name.
        KernelError: An array has the wrong shape or type.
    """
    body, _ = model.locate(frame)
    if body < 0:
        return np.zeros(3)
    tree = Tree(model, q, v)
    return tree.placements[body].E.T @ tree.accelerations(a, gravity=False)[body][:3]


@state_function(q="nq", point=3, returns={"jacobian": (3, "nv")})
def jacobian(
    model: Model,
    q: ArrayInput,
    frame: str,
    point: ArrayInput | None = None,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Jacobian J(q) of a point: ``J v`` is its world velocity.

    Columns of joints that do not move the point are zero.

    Args:
        model: The model.
        q: Positions, (..., nq).
        frame: Name of a body, frame, marker or contact.
        point: Point (m, axes of the frame), (..., 3); the origin of the frame by default.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., 3, nv).

    Raises:
        ModelError: The model has no frame of that name.
        KernelError: An array has the wrong shape or type.
    """
    body, local = attached_point(model, frame, point)
    return body_jacobians(Tree(model, q), body, local)[1]


@state_function(q="nq", returns={"jacobian": (3, "nv")})
def angular_jacobian(
    model: Model,
    q: ArrayInput,
    frame: str,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Angular Jacobian J(q) of a frame: ``J v`` is its world angular velocity.

    Args:
        model: The model.
        q: Positions, (..., nq).
        frame: Name of a body, frame, marker or contact.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., 3, nv).

    Raises:
        ModelError: The model has no frame of that name.
        KernelError: An array has the wrong shape or type.
    """
    body, _ = model.locate(frame)
    return body_jacobians(Tree(model, q), body, np.zeros(3))[0]


@state_function(q="nq", returns={"positions": lambda model: (len(model.markers), 3)})
def marker_positions(
    model: Model,
    q: ArrayInput,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """World positions of all markers, in the order of ``model.markers``.

    Args:
        model: The model.
        q: Positions, (..., nq).
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., markers, 3), m.

    Raises:
        KernelError: An array has the wrong shape or type.
    """
    tree = Tree(model, q)
    rows = []
    for marker in model.markers:
        body, local = attached_point(model, marker.name, None)
        rows.append(local if body < 0 else tree.placements[body].point_back(local))
    return ca.horzcat(*rows).T


def attached_point(model: Model, frame: str, point: Array | None) -> tuple[int, Array]:
    """Body index (-1: the world) and coordinates in it of a point given in a frame's axes."""
    body, placement = model.locate(frame)
    return body, placement.r if point is None else placement.point_back(point)


def point_velocity(tree: Tree, body: int, local: Array) -> Array:
    """World velocity of a point given in body coordinates."""
    velocity = tree.velocities[body]
    return tree.placements[body].E.T @ (velocity[3:] + cross(velocity[:3], local))


def point_acceleration(tree: Tree, accelerations: list[Array], body: int, local: Array) -> Array:
    """World acceleration of a point in body coordinates.

    The linear part of a spatial acceleration lacks omega x v of the point (Felis eq. 3.59).
    """
    velocity, acceleration = tree.velocities[body], accelerations[body]
    speed = velocity[3:] + cross(velocity[:3], local)
    return tree.placements[body].E.T @ (
        acceleration[3:] + cross(acceleration[:3], local) + cross(velocity[:3], speed)
    )


def body_jacobians(tree: Tree, body: int, local: Array) -> tuple[Array, Array]:
    """Angular and linear world Jacobians of a point given in body coordinates."""
    angular, linear = ca.SX(3, tree.model.nv), ca.SX(3, tree.model.nv)
    if body < 0:
        return angular, linear
    target = tree.placements[body].point_back(local)
    for i in tree.ancestors(body):
        if not tree.weights[i]:
            continue
        placement: Transform = tree.placements[i]
        S, arm = tree.joints[i].S, placement.point(target)
        rotations = placement.E.T @ S[:3, :]
        translations = placement.E.T @ (S[3:, :] - cross(arm, S[:3, :]))
        for k, (entry, weight) in enumerate(tree.weights[i]):
            angular[:, entry] = angular[:, entry] + weight * rotations[:, k]
            linear[:, entry] = linear[:, entry] + weight * translations[:, k]
    return angular, linear
