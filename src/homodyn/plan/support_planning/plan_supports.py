"""Sequences of supports of a scene: A* over stances, with a posture for every stance.

This is the planner that Qiu (2012), section 8.2.1, asks for: reachability by the lengths of steps
and by postures, clearance of soles and postures, and the balance margin on one foot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np

from homodyn import catalog
from homodyn.errors import ModelError, NoSolution
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.model import Model
from homodyn.motion import Scene, SceneStep
from homodyn.motion.scene import ComPlanRequest
from homodyn.motion.supports import ContactPatch, Grasp, Support
from homodyn.plan.collision_pairs import named_obstacles
from homodyn.plan.key_posture import KeyPosture, PostureSearch, posture
from homodyn.plan.support_planning.foot_places import FootPlaces, place_near
from homodyn.plan.support_planning.stance_search import FootStance, StanceSearch
from homodyn.plan.support_planning.support_search_options import SupportSearchOptions
from homodyn.plan.support_targets import SupportBody, support_bodies

DEFAULT_STATURE_M, DEFAULT_MASS_KG = 1.75, 79.0
START_DISTANCE_M = 0.5
"""Horizontal distance of the first soles from the start of the center of mass."""
COM_DROPS_M = (0.02, 0.14, 0.28)
"""How far the center of mass may be below its height at the start, in the order tried."""
HAND_REACH_M = 0.9
"""Horizontal distance of a grasp from the middle of the feet."""
DOUBLE_SUPPORT_S, SINGLE_SUPPORT_S, SINGLE_SUPPORT_S_M = 0.2, 0.45, 0.5
"""Least durations: on both feet, on one foot, and for each meter of the way of the other."""

Progress = Callable[[str], None]


@record
class SupportPlan(Record):
    """A sequence of supports that was found, as a scene with phases."""

    scene: Scene
    """The scene with the supports and phases, to be given to `homodyn.plan.motion`."""
    postures: tuple[KeyPosture, ...]
    """Of the stances on both feet."""
    stances: int
    """Number of stances on both feet."""
    generated: int
    """Number of supports that the scene did not have."""
    opened: int
    """Stances that the search opened."""
    refused: tuple[str, ...]
    """Stances without a posture, with the reason."""
    seconds: float

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        grasps = sum(isinstance(each, Grasp) for each in _used_supports(self.scene))
        hands = f" and {count_of(grasps, 'grasp')}" if grasps else ""
        return (
            f"{count_of(self.stances - 1, 'step')}{hands} found, "
            f"{self.generated} of {len(self.scene.supports)} supports chosen by the planner; "
            f"{count_of(self.opened, 'stance')} searched, {len(self.refused)} refused for want of "
            "a posture."
        )

    def headline(self) -> str:
        """The result in one sentence."""
        return f"SupportPlan of {self.scene.name!r}: {self.sentence}"


def plan_supports(
    scene: Scene,
    model: Model | None = None,
    *,
    options: SupportSearchOptions | None = None,
    progress: Progress | None = None,
) -> SupportPlan:
    """Find where feet and hands go, and in which order, from the start to the finish of a scene.

    The scene has one patch per foot near the start of the center of mass. Other patches are used
    where they help; further ones are laid on level ground and on boxes. A grasp is held while it is
    within reach. Every stance has a posture that keeps clear of all obstacles.

    Args:
        scene: Start and finish of the center of mass in its request for a plan, patches of the
            first stance, obstacles, and grasps. Its phases are ignored.
        model: The model; a manikin of 1.75 m with the mass of the scene when left out.
        options: Steps, costs and effort.
        progress: Is called with the name of each step.

    Returns:
        The scene with its phases.

    Raises:
        ModelError: The scene has no start, finish or first stance, an obstacle has no known
            distance, or the model does not have two feet.
        NoSolution: There is no sequence; the message says how far the search came, and why.
    """
    begin = perf_counter()
    chosen, report = options or SupportSearchOptions(), progress or (lambda _: None)
    if model is None:
        model = catalog.manikin(DEFAULT_STATURE_M, scene.mass or DEFAULT_MASS_KG)
    request = _request(scene)
    problem = _Problem(named_obstacles(scene), model, request, chosen)
    start = problem.first_stance()
    search = StanceSearch(problem.places, request.finish, problem.height(start))
    for _ in range(chosen.max_searches):
        report(f"supports, {count_of(search.opened, 'stance')} searched")
        path = search.path(start)
        if path is None:
            break
        wrong = problem.first_without_posture(path)
        if wrong is None:
            return problem.result(scene, path, search, begin)
        if wrong == 0:
            raise NoSolution(
                f"scene {scene.name!r}: the first stance has no posture: {problem.refused[-1]}"
            )
        search.forbidden.add(path[wrong].key)
    raise NoSolution(_failure(scene, search, problem.refused))


@dataclass(eq=False)
class _Problem:
    """A scene with a model, and the postures found so far."""

    scene: Scene
    model: Model
    request: ComPlanRequest
    options: SupportSearchOptions
    postures: dict[tuple[object, ...], KeyPosture] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        bodies = support_bodies(self.model, self.scene)
        feet = {name: body for name, body in bodies.items() if body.is_sole}
        if len(feet) != 2:
            raise ModelError(
                f"scene {self.scene.name!r}: the support planner needs patches of two feet, got "
                f"{', '.join(feet) or 'none'}"
            )
        patches = [s for s in self.scene.supports.values() if isinstance(s, ContactPatch)]
        self.places = FootPlaces(
            self.scene,
            self.options,
            self.scene.mass or DEFAULT_MASS_KG,
            {foot: next(p for p in patches if p.body == foot) for foot in feet},
            _sides(self.model, feet),
        )

    def first_stance(self) -> FootStance:
        """The patches nearest to the start of the center of mass."""
        places = {}
        for foot, given in self.places.given.items():
            found = place_near(given, self.request.start, START_DISTANCE_M)
            if found is None:
                raise ModelError(
                    f"scene {self.scene.name!r}: {foot} has no patch within "
                    f"{START_DISTANCE_M:g} m of the start of the center of mass; give one"
                )
            places[foot] = found
        return FootStance(places)

    def height(self, stance: FootStance) -> float:
        """Height (m) of the start of the center of mass above the feet."""
        return float(self.request.start[2] - stance.middle[2])

    def first_without_posture(self, path: Sequence[FootStance]) -> int | None:
        """Number of the first stance that has no posture; None where all have one."""
        tall = self.height(path[0])
        for k, stance in enumerate(path):
            if not self.find(stance, tall).solved:
                found = self.find(stance, tall)
                names = " and ".join(p.patch.name for p in stance.places.values())
                self.refused.append(f"{names}: {found.sentence}")
                return k
        return None

    def find(self, stance: FootStance, tall: float, grasps: tuple[Support, ...] = ()) -> KeyPosture:
        """A posture on a stance, with the center of mass over its middle."""
        key = (stance.key, *(each.name for each in grasps))
        if key not in self.postures:
            search = PostureSearch(clearance=self.options.clearance, starts=4)
            supports = [*(p.patch for p in stance.places.values()), *grasps]
            low = min(p.patch.middle[2] for p in stance.places.values())
            for drop in COM_DROPS_M:
                place = np.r_[stance.middle[:2], low + tall - drop]
                found = posture(self.model, supports, scene=self.scene, com=place, search=search)
                if found.solved:
                    break
            self.postures[key] = found
        return self.postures[key]

    def result(
        self, scene: Scene, path: Sequence[FootStance], search: StanceSearch, begin: float
    ) -> SupportPlan:
        """The scene with the phases of a path."""
        tall = self.height(path[0])
        held = self._grasps(path, tall)
        supports: dict[str, Support] = {}
        steps: list[SceneStep] = []
        for k, stance in enumerate(path):
            for place in stance.places.values():
                supports[place.patch.name] = place.patch
            feet = tuple(place.patch.name for place in stance.places.values())
            steps.append(
                SceneStep(str(len(steps) + 1), (*feet, *held[k]), min_duration=DOUBLE_SUPPORT_S)
            )
            if k + 1 < len(path):
                steps.append(_single_support(stance, path[k + 1], held, k, len(steps) + 1))
        used = {name for names in held for name in names}
        supports.update({name: scene.supports[name] for name in sorted(used)})
        found = replace(
            scene,
            supports=supports,
            steps=tuple(steps),
            path=None,
            notes=(*scene.notes, "The support planner chose the supports and their order."),
        )
        return SupportPlan(
            found,
            tuple(self.find(stance, tall) for stance in path),
            len(path),
            sum(name not in scene.supports for name in supports),
            search.opened,
            tuple(self.refused),
            perf_counter() - begin,
        )

    def _grasps(self, path: Sequence[FootStance], tall: float) -> list[tuple[str, ...]]:
        """Names of the grasps that are held in each stance: one per hand, while within reach."""
        held: list[tuple[str, ...]] = [() for _ in path]
        grasps = [each for each in self.scene.supports.values() if isinstance(each, Grasp)]
        taken: dict[tuple[str, int], str] = {}
        for grasp in grasps:
            # The first stance is free: a hand flies to its grasp while the body is on its way.
            for k in range(1, len(path)):
                gap = float(np.hypot(*(grasp.middle - path[k].middle)[:2]))
                if gap > HAND_REACH_M or (grasp.body, k) in taken:
                    continue
                others = tuple(self.scene.supports[name] for name in held[k])
                if self.find(path[k], tall, (*others, grasp)).solved:
                    taken[(grasp.body, k)] = grasp.name
                    held[k] = (*held[k], grasp.name)
        return held


def _single_support(
    stance: FootStance,
    following: FootStance,
    held: Sequence[tuple[str, ...]],
    k: int,
    number: int,
) -> SceneStep:
    """The phase on one foot between two stances; a hand holds on where it does in both."""
    foot = following.moved
    standing = tuple(p.patch.name for name, p in stance.places.items() if name != foot)
    assert foot is not None
    way = following.places[foot].patch.middle - stance.places[foot].patch.middle
    hands = tuple(name for name in held[k] if name in held[k + 1])
    duration = SINGLE_SUPPORT_S + SINGLE_SUPPORT_S_M * float(np.linalg.norm(way))
    return SceneStep(str(number), (*standing, *hands), min_duration=round(duration, 2))


def _request(scene: Scene) -> ComPlanRequest:
    if scene.plan is None:
        raise ModelError(
            f"scene {scene.name!r} has no start and finish: give the positions of the center of "
            "mass in [plan]"
        )
    return scene.plan


def _sides(model: Model, feet: Mapping[str, SupportBody]) -> dict[str, float]:
    """1 for the left foot and -1 for the right one, from the neutral pose that faces +x."""
    from homodyn import dynamics

    y = {name: float(dynamics.position(model, model.neutral(), name)[1]) for name in feet}
    left = max(y, key=lambda name: y[name])
    return {name: 1.0 if name == left else -1.0 for name in y}


def _used_supports(scene: Scene) -> list[Support]:
    names = dict.fromkeys(name for step in scene.steps for name in step.supports)
    return [scene.supports[name] for name in names]


def _failure(scene: Scene, search: StanceSearch, refused: Sequence[str]) -> str:
    where = (
        f"the closest stance is {search.nearest:.2f} m from the finish"
        if np.isfinite(search.nearest)
        else "no stance has the finish at a possible height"
    )
    why = f"; the last stance without a posture: {refused[-1]}" if refused else ""
    return (
        f"scene {scene.name!r}: no sequence of supports was found among "
        f"{count_of(search.opened, 'stance')}: {where}{why}"
    )
