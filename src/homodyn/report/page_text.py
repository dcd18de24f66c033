"""Texts of a report that do not depend on the trial: headings, introductions, missing data."""

SECTIONS = {
    "glance": "At a glance",
    "replay": "Replay",
    "gait": "Gait",
    "kinematics": "Angles",
    "forces": "Ground forces",
    "kinetics": "Torques and powers",
    "energy": "Energy and work",
    "methods": "Comparison of methods",
    "elevation": "Elevation angles",
    "emg": "Muscle activity",
    "muscles": "Muscle forces",
    "quality": "Data quality",
    "subject": "Subject and model",
    "reproduce": "How to reproduce",
}
"""Headings by the name of the section, in the order of the page."""

OVERALL = {
    "good": "Good: no problem was found.",
    "fair": "Usable with care: read the amber lines before you use these results.",
    "poor": "Do not use these results yet: the red lines name the problems.",
}
LIGHTS = {"good": "good", "fair": "check", "poor": "problem", "note": "note"}

MISSING = {
    "gait": "No complete gait cycle was found in this trial, so there are no gait measures.",
    "forces": "There are no ground forces: the recording has no force plates, and none were "
    "computed.",
    "forces unknown": "The plates measured no complete stance of a single foot, so there are no "
    "ground forces of the feet.",
    "kinetics": "There are no torques: they require the mass of the subject and ground forces.",
    "energy": "There is no joint work: it requires torques.",
    "elevation": "There are no elevation angles: the model has no thigh, shank and foot on either "
    "side.",
    "emg": "The recording has no EMG channels. Use --emg-channels to name channels whose labels "
    "are not recognized, or --emg for a separate file.",
    "muscles": "Torques were not shared among muscles: --muscles asks for it, with a model that "
    "has muscles.",
    "scaled": "The model was not scaled.",
    "pressure": "No center of pressure was measured or computed.",
    "visibility": "Every marker was visible in every frame.",
    "findings": "The health check found no problems.",
    "residuals": "There are no root residuals: they require ground forces.",
}
"""Texts of sections without data."""

SIGNS = (
    "Angles and torques are positive in the direction that their titles name: flexion, "
    "dorsiflexion, adduction, inversion, internal rotation; for pelvis and trunk, toward the side "
    "of the curve. The files beside this page contain the coordinates of the model with the signs "
    "of the model."
)
UNSEEN_ENERGY = (
    "There is no energy of the body: no marker shows segments with a considerable part of its mass."
)
PARTIAL = (
    "The plates did not measure every step. Loads of the legs are shown for strides with a "
    "measured stance and left blank elsewhere; loads of trunk and arms are not affected."
)
NO_MUSCLE_EMG = (
    "There is no EMG of a muscle of the model beside these activations; --emg names a file and "
    "--emg-channels channels."
)
