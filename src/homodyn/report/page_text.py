"""The words of a report that do not depend on a trial: headings, introductions, what is missing."""

SECTIONS = {
    "glance": "At a glance",
    "replay": "Replay",
    "gait": "Gait",
    "kinematics": "Angles",
    "forces": "Ground forces",
    "kinetics": "Torques and powers",
    "energy": "Energy and work",
    "elevation": "Elevation angles",
    "emg": "Muscle activity",
    "quality": "Data quality",
    "subject": "Subject and model",
    "reproduce": "How to reproduce",
}
"""Headings by the name of the section, in the order of the page."""

OVERALL = {
    "good": "Good: nothing found speaks against using these results.",
    "fair": "Usable with care: read the amber lines before you use these results.",
    "poor": "Not to be trusted as it is: the red lines name what to mend.",
}
LIGHTS = {"good": "good", "fair": "look at it", "poor": "problem", "note": "note"}

MISSING = {
    "gait": "No complete gait cycle was found in this trial, so there are no gait measures.",
    "forces": "There are no ground forces: the recording has no force plates, and none were "
    "computed.",
    "forces unknown": "No stance of a single foot was measured as a whole, so there are no ground "
    "forces of the feet to show.",
    "kinetics": "There are no torques: they need the mass of the subject and ground forces.",
    "energy": "There is no work of joints: it needs torques.",
    "elevation": "There are no elevation angles: the model has no thigh, shank and foot on either "
    "side.",
    "emg": "The recording has no EMG channels. Name them with --emg when their labels do not tell.",
    "scaled": "The model was taken as it is; nothing was scaled.",
    "pressure": "No centre of pressure was measured or computed.",
    "visibility": "Every marker was seen in every frame.",
    "findings": "The health check found nothing to remark.",
    "residuals": "There are no root residuals: they need ground forces.",
}
"""What an empty section says."""

SIGNS = (
    "Angles and torques are positive as their titles say: flexion, dorsiflexion, adduction, "
    "inversion, internal rotation, and for pelvis and trunk the side that is looked at. The files "
    "beside this page have the coordinates of the model with the signs of the model."
)
PARTIAL = (
    "Plates did not measure every step: legs are shown in strides whose stance was measured, or "
    "left blank over time. Trunk and arms do not depend on it."
)
