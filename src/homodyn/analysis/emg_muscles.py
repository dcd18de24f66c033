"""Which muscles of a model an EMG channel records, by the names of both.

Names of channels and of muscles are reduced to heads of muscles, such as ``vastus lateralis``: a
channel ``GASTROC`` and a muscle ``gasmed_r`` share the medial head.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from homodyn.model.side import side_of

_HAMSTRINGS = ("semimembranosus", "semitendinosus", "biceps femoris long")
_VASTI = ("vastus lateralis", "vastus medialis", "vastus intermedius")
_GASTROCNEMIUS = ("gastrocnemius medialis", "gastrocnemius lateralis")

_HEADS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"gl[a-z]*max|gmax", ("gluteus maximus",)),
    (r"gl[a-z]*med|gmed", ("gluteus medius",)),
    (r"gl[a-z]*min|gmin", ("gluteus minimus",)),
    (r"tfl|tensor", ("tensor fasciae latae",)),
    (r"iliops", ("iliacus", "psoas")),
    (r"iliac", ("iliacus",)),
    (r"psoas", ("psoas",)),
    (r"add[a-z]*mag", ("adductor magnus",)),
    (r"add[a-z]*long", ("adductor longus",)),
    (r"add[a-z]*brev", ("adductor brevis",)),
    (r"^add(uctors?)?$", ("adductor magnus", "adductor longus", "adductor brevis")),
    (r"^sar", ("sartorius",)),
    (r"^gra?c", ("gracilis",)),
    (r"rec[a-z]*fem|^rf$", ("rectus femoris",)),
    (r"vas[a-z]*lat|^vl", ("vastus lateralis",)),
    (r"vas[a-z]*med|^vm", ("vastus medialis",)),
    (r"vas[a-z]*int", ("vastus intermedius",)),
    (r"^vast(i|us)?$", _VASTI),
    (r"quadri|^quads?$", (*_VASTI, "rectus femoris")),
    (r"semimem", ("semimembranosus",)),
    (r"semiten", ("semitendinosus",)),
    (r"med[a-z]*ham|ham[a-z]*med", ("semimembranosus", "semitendinosus")),
    (r"lat[a-z]*ham|ham[a-z]*lat", ("biceps femoris long",)),
    (r"ham", _HAMSTRINGS),
    (r"bfsh|bifemsh|bi[a-z]*fem[a-z]*s(h|hort)$", ("biceps femoris short",)),
    (r"bflh|bi[a-z]*fem", ("biceps femoris long",)),
    (r"med[a-z]*gas|gas[a-z]*med|gastrocm|^gm$", ("gastrocnemius medialis",)),
    (r"lat[a-z]*gas|gas[a-z]*lat|gastrocl|^gl$", ("gastrocnemius lateralis",)),
    (r"gas", _GASTROCNEMIUS),
    (r"sol", ("soleus",)),
    (r"tib[a-z]*ant|^ta$", ("tibialis anterior",)),
    (r"tib[a-z]*post", ("tibialis posterior",)),
    (r"(per|fib)[a-z]*long|^pl$", ("peroneus longus",)),
    (r"(per|fib)[a-z]*brev", ("peroneus brevis",)),
    (r"(per|fib)[a-z]*tert", ("peroneus tertius",)),
    (r"^er[a-z]*sp|^erect", ("erector spinae",)),
    (r"tri[a-z]*(long|lg)", ("triceps long",)),
    (r"tri[a-z]*lat", ("triceps lateral",)),
    (r"tri[a-z]*med", ("triceps medial",)),
    (r"^tri(ceps)?$|tricepsbra", ("triceps long", "triceps lateral", "triceps medial")),
    (r"bic[a-z]*long", ("biceps brachii long",)),
    (r"bic[a-z]*short", ("biceps brachii short",)),
    (r"^bic(eps)?$|bicepsbra", ("biceps brachii long", "biceps brachii short")),
    (r"^bra(chialis)?$", ("brachialis",)),
)
"""Patterns of names without sides, numbers and separators, and the heads they mean; the first that
matches counts. Channels over the biceps femoris record its long head."""
_NOISE = re.compile(r"emg|left|right|(?<![a-z])[lr](?![a-z])|[^a-z]+", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SIDE_PREFIX = re.compile(r"^[lr](?=[a-z]{2})", re.IGNORECASE)


@lru_cache(maxsize=4096)
def muscle_heads(name: str) -> frozenset[str]:
    """Heads of muscles that a name of a channel or a muscle means.

    Args:
        name: Such as ``"R_Vastus_Lat"`` or ``"vaslat_r"``.

    Returns:
        Anatomical names; empty where the name is not known.
    """
    plain = _NOISE.sub("", _CAMEL.sub("_", name)).lower()
    for pattern, heads in _HEADS:
        if re.search(pattern, plain):
            return frozenset(heads)
    short = _SIDE_PREFIX.sub("", plain)
    for pattern, heads in _HEADS if short != plain else ():
        if re.search(pattern, short):
            return frozenset(heads)
    return frozenset()


def recorded_muscles(channel: str, side: str | None, muscles: Sequence[str]) -> tuple[str, ...]:
    """Muscles of a model that an EMG channel records.

    Args:
        channel: Name of the channel.
        side: Its side; None takes muscles of both sides.
        muscles: Names of muscles.

    Returns:
        Those that share a head with the channel, in their order.
    """
    heads = muscle_heads(channel)
    return tuple(
        name
        for name in muscles
        if heads & muscle_heads(name) and (side is None or side_of(name) in (None, side))
    )
