"""The scene as viser draws it: nodes for each part, kept in step with the session by the stage."""

from homodyn.studio.scene.stage import SceneStage

__all__ = ["SceneStage"]
