"""Plan: drag supports and obstacles of a scene, find postures and a motion, and execute it."""

from __future__ import annotations

from typing import Any

import numpy as np
from viser import Icon

from homodyn import catalog, dynamics
from homodyn.errors import HomodynError, NoSolution
from homodyn.foundation.markup import escape_markup
from homodyn.motion import Scene, motion_from_poses
from homodyn.plan import (
    ExecutionOptions,
    MotionPlan,
    MotionPlanFailure,
    PostureSearch,
    case_names,
    execute,
    load_case,
    motion,
    plan_supports,
    posture,
)
from homodyn.plan.collision_pairs import named_obstacles
from homodyn.studio.background_tasks import BackgroundTask
from homodyn.studio.document import Actor
from homodyn.studio.markdown_text import MarkdownText
from homodyn.studio.panels.panel import Panel, offer
from homodyn.studio.plan_scene import (
    PlanSceneView,
    item_position,
    movable_names,
    with_item_at,
)
from homodyn.studio.session import SessionView

NOTHING = "nothing"
POSTURE_INTERVAL_S = 0.8
"""Time from one posture to the next when they are played."""
DEFAULT_STATURE_M, DEFAULT_MASS_KG = 1.75, 79.0


class PlanPanel(Panel):
    """A scene to be planned: its supports and obstacles, postures, motion and execution."""

    title = "Plan"
    expanded = True

    def build(self) -> None:
        """Create the controls."""
        self.state = MarkdownText(
            self.gui, "Load a case or a scene file whose supports name the bodies that use them."
        )
        self.source = self.gui.add_text(
            "Scene", "board", hint=f"{', '.join(case_names())}, or the path of a .toml file"
        )
        self.load = self.gui.add_button("Load", icon=Icon.FOLDER_OPEN)
        self.item = self.gui.add_dropdown("Drag", (NOTHING,), initial_value=NOTHING)
        self.postures = self.gui.add_button("Postures", icon=Icon.WALK)
        self.motion = self.gui.add_button("Motion", icon=Icon.ROUTE)
        self.execution = self.gui.add_button("Execute", icon=Icon.PLAYER_PLAY)
        self.scene: Scene | None = None
        self.plan: MotionPlan | None = None
        self.stopping: tuple[str, ...] = ()
        """Names of the supports and obstacles that stop the plan."""
        self.place: np.ndarray | None = None
        """(3,), m: where the plan is stopped."""
        self._view = PlanSceneView(self.studio.server.scene)
        self._drawn: object = None
        self.on_click(self.load)(self.open)
        self.on_click(self.postures)(self.find_postures)
        self.on_click(self.motion)(self.find_motion)
        self.on_click(self.execution)(self.execute)
        self.on_choice(self.item)(self.choose)

    def tick(self, view: SessionView) -> None:
        """Draw the scene where it changed."""
        scene, stopping = self.scene, self.stopping
        if scene is None or self._drawn == (id(scene), stopping):
            return
        self._drawn = (id(scene), stopping)
        self._view.draw(scene, stopping)
        self._view.mark(self.place)

    def open(self) -> None:
        """Load the scene.

        Raises:
            HomodynError: There is no such case or file, or it is not valid.
        """
        self.scene = named_obstacles(load_case(self.source.value.strip()))
        self._forget()
        offer(self.item, (NOTHING, *movable_names(self.scene)), NOTHING)
        phases = len(self.scene.steps)
        order = f"{phases} phases" if phases else "no phases: the support planner finds them"
        self.state.content = (
            f"**{escape_markup(self.scene.name)}**: {len(self.scene.supports)} supports, "
            f"{len(self.scene.obstacles)} obstacles, {order}."
        )
        self.session.changed.set()

    def choose(self, name: str) -> None:
        """Put the handle at a support or an obstacle.

        Args:
            name: Its name.
        """
        scene = self.scene
        chosen = scene is not None and name in movable_names(scene)
        place = item_position(scene, name) if scene is not None and chosen else None
        self._view.attach(place, lambda position: self.move(name, position))

    def move(self, name: str, position: np.ndarray) -> None:
        """Move a support or an obstacle; plans of the scene before are forgotten.

        Args:
            name: Its name.
            position: (3,), m.
        """
        if self.scene is not None:
            self.scene = with_item_at(self.scene, name, position)
            self._forget()
            self.session.changed.set()

    def find_postures(self) -> None:
        """Find a posture on every stance of the scene, with the center of mass free."""
        scene = self._require_scene()

        def work(task: BackgroundTask) -> None:
            model = self._model(scene)
            found: list[np.ndarray] = []
            for step in scene.steps:
                task.report(f"phase {step.name}")
                supports = [scene.supports[name] for name in step.supports]
                reference = found[-1] if found else None
                key = posture(
                    model,
                    supports,
                    scene=scene,
                    reference=reference,
                    search=PostureSearch(starts=8),
                )
                if not key.solved:
                    other = () if key.closest is None else (key.closest.other,)
                    capsule = "" if key.closest is None else key.closest.capsule
                    names = other if other else tuple(step.supports)
                    self._stop(model, key.q, names, capsule, f"Phase {step.name}: {key.sentence}")
                    return
                found.append(key.q)
            time = POSTURE_INTERVAL_S * np.arange(len(found))
            poses = motion_from_poses(model, time, np.array(found))
            self._show(Actor.from_motion(poses, "postures"), f"{len(found)} postures found.")

        self.studio.tasks.start("Finding postures", work)

    def find_motion(self) -> None:
        """Plan the motion; without phases, the supports too."""
        scene = self._require_scene()

        def work(task: BackgroundTask) -> None:
            model = self._model(scene)
            try:
                chosen = scene
                if not scene.steps:
                    found = plan_supports(scene, model, progress=task.report)
                    chosen = named_obstacles(found.scene)
                    self.scene = chosen
                planned = motion(chosen, model, progress=task.report)
            except MotionPlanFailure as failure:
                pair = failure.pair
                names = () if pair is None else (pair.other,)
                capsule = "" if pair is None else pair.capsule
                self._stop(model, failure.q, names, capsule, str(failure))
                return
            except NoSolution as error:
                self._say_stop(str(error))
                return
            self.plan = planned
            self._show(Actor.from_motion(planned.motion, "plan"), planned.sentence)

        self.studio.tasks.start("Planning", work)

    def execute(self) -> None:
        """Track the plan in simulation.

        Raises:
            HomodynError: There is no plan.
        """
        planned = self.plan
        if planned is None:
            raise HomodynError("there is no plan to execute; press Motion first")

        def work(task: BackgroundTask) -> None:
            run = execute(planned, options=ExecutionOptions(), progress=task.report)
            self._show(Actor.from_motion(run.motion, "execution"), run.sentence)
            if not run.status.success:
                self._say_stop(run.sentence)

        self.studio.tasks.start("Executing", work)

    def _require_scene(self) -> Scene:
        if self.scene is None:
            raise HomodynError("no scene is loaded; name a case or a file and press Load")
        return self.scene

    def _model(self, scene: Scene) -> Any:
        return catalog.manikin(DEFAULT_STATURE_M, scene.mass or DEFAULT_MASS_KG)

    def _forget(self) -> None:
        self.plan, self.stopping, self.place = None, (), None

    def _show(self, actor: Actor, sentence: str) -> None:
        """Open a body with its motion, in place of the one before of that name."""
        self.stopping, self.place = (), None
        self.session.change(
            actor.name,
            lambda d: (d.without(actor.name) if actor.name in d.names else d).with_actor(actor),
        )
        self.state.content = escape_markup(sentence)

    def _stop(
        self, model: Any, q: np.ndarray, names: tuple[str, ...], capsule: str, sentence: str
    ) -> None:
        """Show the posture that is closest to a valid one, and in red what stops it."""
        actor = Actor("stopped", model, np.asarray(q))
        self._show(actor, sentence)
        bodies = {each.name: each.body for each in model.capsules}
        if capsule in bodies:
            self.place = np.asarray(dynamics.position(model, np.asarray(q), bodies[capsule]))
        self.stopping = names
        self._say_stop(sentence)

    def _say_stop(self, sentence: str) -> None:
        self.state.content = f"**Stopped.** {escape_markup(sentence)}"
        self.session.changed.set()
