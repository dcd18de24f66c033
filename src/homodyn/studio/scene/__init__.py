"""The scene as viser draws it; `SceneStage` keeps its nodes in step with the session."""

from homodyn.studio.scene.stage import SceneStage

__all__ = ["SceneStage"]
