"""Chains and trees of damped links: in the network language, as a body node, and in MuJoCo."""

from __future__ import annotations

import numpy as np

from homodyn import network
from homodyn.model import Assembly, Body, Model, joints

WIDTH, LENGTH = 0.05, 1.0
"""Width and length of a link of 1 kg (m)."""
HINGE_DAMPING = 1.0
"""Damping of every hinge (N m s/rad)."""
INITIAL_TILT_RAD = 0.2 * np.pi
"""Initial angle of the first hinge (rad)."""


def parent_of(k: int, branches: int) -> int:
    """The parent of link ``k``, counted from 1; 0 is the world."""
    return (k - 2) // branches + 1 if k > 1 else 0


def chain_network(size: int, branches: int, *, sparse: bool = True) -> network.Network:
    """The tree in the network language, integrated by Euler steps."""
    edges = "\n".join(
        f'edge from "p{parent_of(k, branches)}" to "p{k}" : physics.joint {{}}'
        for k in range(2, size + 1)
    )
    net = network.parse(f"""
        include "physics/physics.cdn"
        node "system" : physics.system {{
            node "p{{1:{size}}}" : physics.joints.revoluteY {{
                com = "[0; 0; {-LENGTH / 2}]"
                tr = "[0; 0; {-LENGTH}]"
                I = "Inertia.Box(m, {WIDTH}, {WIDTH}, {LENGTH})"
                damping = {HINGE_DAMPING}
                tau = "-damping * dq"
            }}
            node "p1" {{ tr = "[0; 0; 0]" q = {INITIAL_TILT_RAD!r} }}
            {edges}
            include "physics/model.cdn"
            include "physics/dynamics.cdn"
        }}
    """)
    net.sparse = sparse
    return net


def chain_body(size: int, branches: int) -> network.Network:
    """The tree as a body node of a network."""
    model = chain_model(size, branches)
    net = network.Network(method="explicit_euler")
    network.add_body(net, "tree", model)
    return net.set({f"tree.{model.coordinate_names[0]}.q0": INITIAL_TILT_RAD})


def chain_model(size: int, branches: int) -> Model:
    """The tree as a model."""
    across, along = (WIDTH**2 + LENGTH**2) / 12, WIDTH**2 / 6
    assembly = Assembly(f"{size} links, {branches} children per link")
    for k in range(1, size + 1):
        body = Body(f"p{k}", 1.0, (0, 0, -LENGTH / 2), np.diag([across, across, along]))
        place = (f"p{parent_of(k, branches)}",) if k > 1 else ()
        at = (0.0, 0.0, -LENGTH) if k > 1 else (0.0, 0.0, 0.0)
        assembly = assembly.add(body, joints.revolute("y"), *place, at=at)
    model = assembly.model()
    return model.with_numbers({f"{name}.damping": HINGE_DAMPING for name in model.coordinate_names})


class MujocoLinks:
    """The tree in MuJoCo, without contacts, simulated by its rollout function."""

    def __init__(self, size: int, branches: int, dt: float) -> None:
        import mujoco
        from mujoco import rollout

        self.model = mujoco.MjModel.from_xml_string(_mjcf(size, branches, dt))
        self.data = mujoco.MjData(self.model)
        self.data.qpos[0] = INITIAL_TILT_RAD
        kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
        self.state = np.zeros((1, mujoco.mj_stateSize(self.model, kind)))
        mujoco.mj_getState(self.model, self.data, self.state[0], kind)
        self._rollout = rollout.Rollout(nthread=1)

    def run(self, steps: int) -> np.ndarray:
        """Angles after every step."""
        states, _ = self._rollout.rollout([self.model], [self.data], self.state, nstep=steps)
        return np.asarray(states[0, :, 1 : 1 + self.model.nq])


def _mjcf(size: int, branches: int, dt: float) -> str:
    across, along = (WIDTH**2 + LENGTH**2) / 12, WIDTH**2 / 6
    below: dict[int, list[int]] = {}
    for k in range(1, size + 1):
        below.setdefault(parent_of(k, branches), []).append(k)

    def body(k: int) -> str:
        at = f"0 0 {-LENGTH}" if k > 1 else "0 0 0"
        inside = "".join(map(body, below.get(k, [])))
        return (
            f'<body pos="{at}"><joint type="hinge" axis="0 1 0" damping="{HINGE_DAMPING}"/>'
            f'<inertial pos="0 0 {-LENGTH / 2}" mass="1" '
            f'diaginertia="{across} {across} {along}"/>{inside}</body>'
        )

    return (
        f'<mujoco><option timestep="{dt}" integrator="Euler">'
        '<flag contact="disable" constraint="disable" eulerdamp="disable"/></option>'
        f"<worldbody>{body(1)}</worldbody></mujoco>"
    )
