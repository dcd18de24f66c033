"""What the studio shows: bodies with their poses and motions, and recordings. Records, no page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from homodyn.capture import Trial
from homodyn.errors import CaptureError, ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import Model
from homodyn.motion import (
    Event,
    Loads,
    Motion,
)
from homodyn.studio.catalog_recipe import CatalogRecipe

COLORS = (
    (92, 138, 196),
    (222, 130, 56),
    (84, 160, 98),
    (178, 92, 170),
    (196, 78, 82),
    (62, 166, 178),
    (150, 122, 92),
    (128, 128, 140),
)
"""Of the bodies, in the order in which they came (RGB, 0 to 255)."""

Color = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Actor:
    """A body of the scene: a model in a pose, or in a motion with what is known of its forces."""

    name: str
    model: Model
    q: np.ndarray
    """(nq,): the pose while there is no motion, or while ``posed``."""
    motion: Motion | None = None
    loads: Loads | None = None
    events: tuple[Event, ...] = ()
    color: Color = COLORS[0]
    shown: bool = True
    posed: bool = False
    """True while the pose is drawn instead of the motion."""
    source: str = ""
    """The file or folder it came from."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """How much markers count when it is fitted, by name; 1 for those that are not named."""
    recipe: CatalogRecipe | None = None
    """How the catalog built the model; None where it came otherwise."""

    @property
    def moving(self) -> bool:
        """Whether it is drawn from its motion."""
        return self.motion is not None and not self.posed

    def position(self, time: float) -> np.ndarray:
        """(nq,): what is drawn at an instant (s)."""
        if self.motion is None or self.posed:
            return self.q
        return np.asarray(self.motion.q[nearest_frame(self.motion.time, time)])

    def with_pose(self, q: np.ndarray) -> Actor:
        """The same body held in a pose."""
        return replace(self, q=np.array(q, dtype=float), posed=self.motion is not None)

    def resume_motion(self) -> Actor:
        """The same body back in its motion."""
        return replace(self, posed=False)


@dataclass(frozen=True, eq=False)
class StudioDocument:
    """Everything that is open. Each change makes a new one, so going back is keeping the old."""

    actors: tuple[Actor, ...] = ()
    trials: tuple[Trial, ...] = ()
    active: int = 0
    """The body that is posed, fitted and edited: its place in ``actors``."""

    @property
    def actor(self) -> Actor | None:
        """The active body."""
        return self.actors[self.active] if self.actors else None

    @property
    def trial(self) -> Trial | None:
        """The recording that is worked on: the one that came last."""
        return self.trials[-1] if self.trials else None

    @property
    def names(self) -> tuple[str, ...]:
        """Of the bodies."""
        return tuple(actor.name for actor in self.actors)

    def index(self, name: str) -> int:
        """Place of the body of that name."""
        if name not in self.names:
            raise ModelError(unknown_name("body of the scene", name, self.names))
        return self.names.index(name)

    def with_actor(self, actor: Actor, *, active: bool = True) -> StudioDocument:
        """With one more body, under a name and in a colour that no other has."""
        actor = replace(
            actor, name=unique_name(actor.name, self.names), color=unused_color(self.actors)
        )
        place = len(self.actors) if active else self.active
        return replace(self, actors=(*self.actors, actor), active=place)

    def with_trial(self, trial: Trial) -> StudioDocument:
        """With one more recording, under a name that no other has."""
        name = unique_name(trial.name, [known.name for known in self.trials])
        return replace(self, trials=(*self.trials, replace(trial, name=name)))

    def with_actor_at(self, place: int, actor: Actor) -> StudioDocument:
        """With another body in a place."""
        actors = (*self.actors[:place], actor, *self.actors[place + 1 :])
        return replace(self, actors=actors)

    def with_active(self, actor: Actor) -> StudioDocument:
        """With the active body changed."""
        return self.with_actor_at(self.active, actor)

    def without(self, name: str) -> StudioDocument:
        """Without the body of that name."""
        place = self.index(name)
        actors = (*self.actors[:place], *self.actors[place + 1 :])
        active = self.active - (self.active > place or self.active == len(actors))
        return replace(self, actors=actors, active=max(active, 0))

    def activate(self, name: str) -> StudioDocument:
        """With another body as the active one."""
        return replace(self, active=self.index(name))

    def with_active_trial(self, trial: Trial) -> StudioDocument:
        """With the recording that is worked on changed."""
        return replace(self, trials=(*self.trials[:-1], trial))

    def activate_trial(self, name: str) -> StudioDocument:
        """With the recording of that name as the one that is worked on."""
        names = [trial.name for trial in self.trials]
        if name not in names:
            raise CaptureError(unknown_name("recording", name, names))
        others = [trial for trial in self.trials if trial.name != name]
        return replace(self, trials=(*others, self.trials[names.index(name)]))

    @property
    def time(self) -> np.ndarray:
        """(frames,), s: the instants that are played, those of the longest that is open."""
        candidates = [actor.motion.time for actor in self.actors if actor.motion is not None]
        candidates += [trial.time for trial in self.trials if trial.frames]
        if not candidates:
            return np.zeros(1)
        return max(candidates, key=lambda time: (time[-1] - time[0], len(time)))

    @property
    def events(self) -> tuple[Event, ...]:
        """Of the active body or, where it has none, of the recording."""
        if self.actor is not None and self.actor.events:
            return self.actor.events
        return () if self.trial is None else self.trial.events


def nearest_frame(time: np.ndarray, instant: float) -> int:
    """Place of the sample nearest to an instant (s) in a rising row of instants."""
    after = int(np.searchsorted(time, instant))
    if after == 0 or len(time) == 1:
        return 0
    if after >= len(time):
        return len(time) - 1
    return after if time[after] - instant < instant - time[after - 1] else after - 1


def unique_name(name: str, taken: Iterable[str]) -> str:
    """The name, or with the first number that makes it differ from all that are taken."""
    names = set(taken)
    if name not in names:
        return name
    return next(f"{name} {k}" for k in range(2, len(names) + 3) if f"{name} {k}" not in names)


def unused_color(actors: Iterable[Actor]) -> Color:
    """The first colour that no body has, or the first of all."""
    taken = {actor.color for actor in actors}
    return next((color for color in COLORS if color not in taken), COLORS[0])
