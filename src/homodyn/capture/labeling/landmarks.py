"""Side and landmark of a marker label, in the spellings of the common marker sets."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple


class Landmark(NamedTuple):
    """A place on the body: ``side`` is ``"r"``, ``"l"`` or empty, ``place`` a plain word."""

    side: str
    place: str


SYNONYMS: dict[str, tuple[str, ...]] = {
    "asis": ("asi", "asis", "ias", "fwt", "frontwaist", "anteriorsuperioriliacspine"),
    "psis": ("psi", "psis", "ips", "bwt", "backwaist", "posteriorsuperioriliacspine"),
    "sacrum": ("sacr", "sacrum", "sacral", "vsacral", "vsac", "sac"),
    "trochanter": ("gtr", "ftc", "trochanterion", "troch", "trochanter", "greatertrochanter", "gt"),
    "thigh": ("thi", "thigh"),
    "knee": ("kne", "knee", "kneelat", "kneelateral", "lfc", "fle", "femorallateralepicn", "le"),
    "knee medial": (
        "kneemed",
        "kneemedial",
        "mfc",
        "fme",
        "mkne",
        "mknee",
        "femoralmedialepicn",
        "me",
        "knm",
        "kneemedialepicondyle",
    ),
    "shank": ("tib", "shank", "shn", "tibia", "shin"),
    "thigh proximal": ("thap",),
    "thigh distal": ("thad",),
    "shank proximal": ("tiap",),
    "shank distal": ("tiad",),
    "fibula head": ("hf", "fibulahead", "fibula"),
    "tibial tuberosity": ("ttc", "ttub", "tuberosity", "tt"),
    "ankle": (
        "ank",
        "ankle",
        "anklelat",
        "anklelateral",
        "lmal",
        "fal",
        "mall",
        "lateralmalleolus",
        "lm",
        "malleoluslateral",
        "malleoluslat",
    ),
    "ankle medial": (
        "anklemed",
        "anklemedial",
        "mmal",
        "tam",
        "mank",
        "mankle",
        "medialmalleolus",
        "mm",
        "med",
        "malleolusmedial",
        "malleolusmed",
    ),
    "heel": ("hee", "heel", "cal", "calc", "fcc", "calcaneus", "calcaneouspost", "ca"),
    "toe": ("toe", "toetip", "hallux", "digit2", "bigtoe"),
    "first metatarsal": (
        "mt1",
        "fm1",
        "met1",
        "toemed",
        "metatarsalpha1",
        "toemedial",
        "fm",
        "fmh",
    ),
    "second metatarsal": ("mt2", "fm2", "met2", "sm", "smh"),
    "fifth metatarsal": (
        "mt5",
        "fm5",
        "met5",
        "5meta",
        "meta5",
        "toelat",
        "metatarsalpha5",
        "toelateral",
        "vm",
        "vmh",
        "smalltoe",
    ),
    "shoulder": ("sho", "shoulder", "should", "acr", "acromium", "acromion", "saj"),
    "upper arm": ("upa", "bicep", "biceps", "upperarm", "uparm"),
    "elbow": ("elb", "elbow", "elbowlat", "lel", "hle", "humerallateralepicn", "elbowlateral"),
    "elbow medial": ("elbowmed", "elbowmedial", "mel", "hme", "melb", "humeralmedialepicn"),
    "forearm": ("frm", "forearm"),
    "wrist radial": ("wra", "wristlat", "wristlateral", "rsp", "radialstyloid", "faradius"),
    "wrist ulnar": ("wrb", "wristmed", "wristmedial", "uhe", "ulnarstyloid", "faulna"),
    "wrist": ("wrist",),
    "finger": ("fin", "finger", "dactylion"),
    "head front": ("fhd", "hdf", "temple", "headfront", "fronthead"),
    "head back": ("bhd", "hdb", "headback", "backhead"),
    "head top": ("tophead", "vertex", "headtop"),
    "c7": ("c7", "cv7", "cervicale"),
    "t8": ("t8", "tv8"),
    "t10": ("t10", "tv10"),
    "clavicle": ("clav", "snj", "suprasternale", "jugularnotch", "ij"),
    "sternum": ("strn", "sternum", "sxs", "substernale", "xiphoid", "px"),
    "back": ("bac", "bak", "back", "scap", "scapula"),
    "hip center": ("hjc",),
    "knee center": ("kjc",),
    "ankle center": ("ajc",),
    "shoulder center": ("sjc",),
    "elbow center": ("ejc",),
}
"""Words of the common marker sets: Plug-in Gait, CGM 2, Helen Hayes, IOR, CMU, OpenSim, OpenCap,
ISB, anthropometry."""
SOFT_PLACES = frozenset(
    {
        *("thigh", "thigh proximal", "thigh distal", "shank", "shank proximal", "shank distal"),
        *("upper arm", "forearm", "head front", "head back", "back", "finger"),
    }
)
"""Places that are soft tissue or a head band; markers there are numbered as clusters."""
LABEL_ENDINGS = ("study",)
"""Words at the end of labels that name the program, not the place: ``r.ASIS_study`` of OpenCap."""

_PLACES = {word: place for place, words in SYNONYMS.items() for word in words}
_SIDES = {"r": "r", "right": "r", "l": "l", "left": "l"}


def strip_subject(label: str) -> str:
    """The label without the name of the subject before it: ``Anna:RASI`` is ``RASI``."""
    return label.rsplit(":", 1)[-1].strip()


@lru_cache(maxsize=4096)
def normalize_label(label: str) -> str:
    """The label in one spelling: the side first, lower case, no separators.

    ``R.ASIS``, ``R_ASIS``, ``RightASIS``, ``ASIS_R`` and ``Anna:rasis`` are all ``rasis``.
    """
    side, word = _split_side(label)
    return side + word


@lru_cache(maxsize=4096)
def landmark(label: str) -> Landmark:
    """Side and place of a label; the place of an unknown word is the word itself."""
    side, word = _split_side(label)
    if word in _PLACES:
        return Landmark(side, _PLACES[word])
    # The only marker of a bony place may have a number: "r knee 1".
    if side and word.endswith("1") and _PLACES.get(word[:-1], "thigh") not in SOFT_PLACES:
        return Landmark(side, _PLACES[word[:-1]])
    if not side:
        for first, rest, last in ((word[:1], word[1:], ""), ("", word[:-1], word[-1:])):
            if (first or last) in _SIDES and rest in _PLACES:
                return Landmark(_SIDES[first or last], _PLACES[rest])
    return Landmark(side, word)


def is_unlabeled(label: str) -> bool:
    """Whether the label is the number of an unnamed point: ``*12``, ``U_7``, ``Unnamed 3``."""
    words = r"(?i)|\*.*|(u|unlabell?ed|unnamed|unknown)[\s_.-]*\d+"
    return bool(re.fullmatch(words, strip_subject(label)))


def is_known_landmark(label: str) -> bool:
    """Whether the label is a landmark of the table."""
    return landmark(label).place in SYNONYMS


def left_right_pairs(labels: tuple[str, ...]) -> list[tuple[int, int]]:
    """Left and right markers of the same place, as indices: ``(left, right)``."""
    spellings = {normalize_label(label): k for k, label in enumerate(labels)}
    pairs = []
    for spelling, left in spellings.items():
        if spelling.startswith("l") and (right := spellings.get("r" + spelling[1:])) is not None:
            pairs.append((left, right))
    return pairs


def _split_side(label: str) -> tuple[str, str]:
    """Side and the rest of a label, in lower case."""
    words = re.findall(r"[A-Z]?[a-z]+\d*|[A-Z]+\d*(?![a-z])|\d+|[A-Z]", strip_subject(label))
    lower = [word.lower() for word in words]
    if len(lower) > 1 and lower[-1] in LABEL_ENDINGS:
        lower = lower[:-1]
    if len(lower) > 1 and lower[0] in _SIDES:
        return _SIDES[lower[0]], "".join(lower[1:])
    if len(lower) > 1 and lower[-1] in _SIDES:
        return _SIDES[lower[-1]], "".join(lower[:-1])
    word = "".join(lower)
    for full, letter in (("right", "r"), ("left", "l")):
        if word.startswith(full) and len(word) > len(full):
            return letter, word.removeprefix(full)
        if word.endswith(full) and len(word) > len(full):
            return letter, word.removesuffix(full)
    # One word that ends in a side: ASISR. Words that begin with one are handled by `landmark`.
    if word[:-1] in _PLACES and word[-1:] in _SIDES and word not in _PLACES:
        return _SIDES[word[-1]], word[:-1]
    return "", word
