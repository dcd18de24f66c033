"""Scenes in the opposite order: getting out where another scene gets in."""

from __future__ import annotations

from dataclasses import replace

from homodyn.motion import Scene, SceneStep


def reversed_scene(scene: Scene, name: str) -> Scene:
    """The scene with its phases in the opposite order, from its finish to its start.

    A body that slides to a new support slides in the same phase, which lists the support at the end
    of the slide: on the way back, that is the first one.

    Args:
        scene: A scene without a path.
        name: Name of the new scene.
    """
    steps: list[SceneStep] = []
    for k, step in reversed(list(enumerate(scene.steps))):
        before = scene.steps[k - 1].supports if k else ()
        slides = {
            scene.supports[new].body: old
            for old in before
            for new in step.supports
            if new != old and scene.supports[new].body == scene.supports[old].body
        }
        supports = tuple(slides.get(scene.supports[each].body, each) for each in step.supports)
        steps.append(replace(step, name=str(len(steps) + 1), supports=supports))
    plan = scene.plan
    if plan is not None:
        plan = replace(
            plan,
            start=plan.finish,
            finish=plan.start,
            start_at_rest=plan.finish_at_rest,
            finish_at_rest=plan.start_at_rest,
        )
    return replace(scene, name=name, steps=tuple(steps), plan=plan, path=None)
