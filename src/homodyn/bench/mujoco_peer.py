"""A model in MuJoCo: rollouts and standing."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from homodyn.dynamics import marker_positions
from homodyn.model import Model, save


class MujocoHuman:
    """A model in MuJoCo with the same joints, springs, limits, contact points and time step.

    Args:
        model: The model.
        q: Initial pose.
        path: MJCF file to write.
        dt: Time step (s).
        pinned: Number of markers, the first ones, that connect constraints pull to mocap bodies,
            which are where the markers are in the initial pose.
    """

    def __init__(self, model: Model, q: np.ndarray, path: Path, dt: float, pinned: int = 0) -> None:
        import mujoco
        from mujoco import rollout

        save(model, path)
        self._mujoco = mujoco
        self._dt = dt
        spec = mujoco.MjSpec.from_file(str(path))
        places = np.asarray(marker_positions(model, q))[:pinned]
        for marker, place in zip(model.markers, places, strict=False):
            spec.worldbody.add_body(name=f"target {marker.name}", mocap=True, pos=place)
            spec.add_equality(
                name=f"pin {marker.name}",
                type=mujoco.mjtEq.mjEQ_CONNECT,
                objtype=mujoco.mjtObj.mjOBJ_BODY,
                name1=f"target {marker.name}",
                name2=marker.body,
            )
        self.model = spec.compile()
        for k, marker in enumerate(model.markers[:pinned]):
            # The compiler takes the places in the bodies from its own initial pose.
            self.model.eq_data[k, :3] = 0.0
            self.model.eq_data[k, 3:6] = np.asarray(marker.position, dtype=float)
        self.model.opt.timestep = dt
        self.data = mujoco.MjData(self.model)
        self.data.qpos[:] = q
        kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
        self.state = np.zeros(mujoco.mj_stateSize(self.model, kind))
        mujoco.mj_getState(self.model, self.data, self.state, kind)
        self._datas = [mujoco.MjData(self.model) for _ in range(2)]
        self._rollout = {threads: rollout.Rollout(nthread=threads) for threads in (1, 2)}

    def rollout(self, count: int, steps: int, threads: int) -> None:
        """Simulate by the rollout function of MuJoCo.

        Args:
            count: Number of simulations.
            steps: Number of steps of each.
            threads: Number of threads, 1 or 2.
        """
        states = np.tile(self.state, (count, 1))
        datas = self._datas[:threads]
        self._rollout[threads].rollout([self.model] * count, datas, states, nstep=steps)

    def rollout_with_torques(self, torques: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Simulate one walker with given torques by the rollout function, in one thread.

        Args:
            torques: (steps, nv): torques of every step (N m).
            v: Initial velocities (nv,).

        Returns:
            States of all steps, (steps, size).
        """
        mujoco = self._mujoco
        mujoco.mj_setState(self.model, self.data, self.state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        self.data.qvel[:] = v
        state = np.zeros_like(self.state)
        mujoco.mj_getState(self.model, self.data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        states, _ = self._rollout[1].rollout(
            [self.model],
            self._datas[:1],
            state[None],
            control=np.ascontiguousarray(torques)[None],
            control_spec=int(mujoco.mjtState.mjSTATE_QFRC_APPLIED),
        )
        return np.asarray(states[0])

    def stand(self, duration: float, last: float, weight: float) -> tuple[float, float]:
        """Simulate standing.

        Args:
            duration: Duration (s).
            last: Time at the end that is evaluated (s).
            weight: Weight of the model (N).

        Returns:
            Error of the mean vertical force (N) and largest penetration (m).
        """
        mujoco = self._mujoco
        mujoco.mj_setState(self.model, self.data, self.state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        forces, depth = [], 0.0
        wrench = np.zeros(6)
        for step in range(round(duration / self._dt)):
            mujoco.mj_step(self.model, self.data)
            if step * self._dt > duration - last:
                total = 0.0
                for k in range(self.data.ncon):
                    mujoco.mj_contactForce(self.model, self.data, k, wrench)
                    total += wrench[0]
                    depth = max(depth, -float(self.data.contact[k].dist))
                forces.append(total)
        return abs(float(np.mean(forces)) - weight), depth
