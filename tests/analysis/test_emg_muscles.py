"""Names of EMG channels and of muscles mean the same heads."""

import pytest

from homodyn.analysis.emg_muscles import muscle_heads, recorded_muscles


@pytest.mark.parametrize(
    ("channel", "muscle"),
    [
        ("soleus", "soleus_r"),
        ("R_Tib_Ant", "tib_ant_r"),
        ("LTIBANT", "tibant_l"),
        ("Right Gluteus Medius", "glmed2_r"),
        ("EMG_VL_R", "vaslat_r"),
        ("gastrocnemius", "gasmed_r"),
        ("gastrocnemius", "gastroc_r"),
        ("Gastrocnemius Lateralis", "lat_gas_r"),
        ("medial_hamstrings", "semiten_r"),
        ("medial_hamstrings", "hamstrings_r"),
        ("biceps_femoris", "bflh_r"),
        ("biceps_femoris", "bifemlh_r"),
        ("Peroneus Longus", "perlong_r"),
        ("RF", "rect_fem_r"),
        ("quadriceps", "vasint_r"),
        ("Triceps", "TRIlat"),
    ],
)
def test_a_channel_records_a_muscle(channel, muscle):
    assert muscle_heads(channel) & muscle_heads(muscle)


@pytest.mark.parametrize(
    ("channel", "muscle"),
    [
        ("biceps_femoris", "bfsh_r"),
        ("gluteus_medius", "glmax1_r"),
        ("quadriceps", "quad_fem_r"),
        ("Gastrocnemius Lateralis", "gasmed_r"),
        ("tibialis_anterior", "tibpost_r"),
        ("Force.Fz1", "soleus_r"),
    ],
)
def test_a_channel_does_not_record_another_muscle(channel, muscle):
    assert not muscle_heads(channel) & muscle_heads(muscle)


def test_muscles_of_the_side_of_the_channel():
    muscles = ("gasmed_r", "gaslat_r", "gasmed_l", "soleus_r")
    assert recorded_muscles("gastrocnemius", "right", muscles) == ("gasmed_r", "gaslat_r")
    assert recorded_muscles("gastrocnemius", None, muscles) == ("gasmed_r", "gaslat_r", "gasmed_l")
    assert recorded_muscles("deltoid", "right", muscles) == ()
