import numpy as np

from homodyn.track.experiments import EffortStimulus, TracePath


def test_a_stimulus_is_linear_between_its_bounds():
    size = EffortStimulus("effort", "size", 100.0, 300.0, np.array([1.0]), np.array([3.0]))
    values = [float(size.value(x)[0]) for x in (0.0, 100.0, 150.0, 300.0, 1e6)]
    np.testing.assert_allclose(values, [1.0, 1.0, 1.5, 3.0, 3.0])


def test_length_of_a_closed_path():
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    assert TracePath("open", square).length == 3.0
    assert TracePath("closed", square, True).length == 4.0
