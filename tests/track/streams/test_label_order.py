import numpy as np

import homodyn as hd
from homodyn.track.streams.label_order import LabelOrder


def test_labels_are_put_into_the_order_of_the_model():
    model = hd.catalog.hdm()
    order = LabelOrder(model)
    names = tuple(f"Anna:{marker.name}" for marker in reversed(model.markers))
    (sentence,) = order.update(names)
    assert sentence == f"41 of 41 markers of {model.name} are in the stream"
    positions = np.random.default_rng(0).normal(size=(41, 3))
    np.testing.assert_array_equal(order.pick(names, positions), positions[::-1])
    assert order.update(names) == []


def test_a_change_of_labels_says_what_is_new():
    model = hd.catalog.hdm()
    order = LabelOrder(model)
    names = tuple(marker.name for marker in model.markers)
    assert "absent: " in order.update((*names[:39], "unknown"))[0]
    (sentence,) = order.update(names[1:])
    assert sentence.startswith("the labels changed: 40 of 41 markers are there")
    assert f"without {names[0]}" in sentence
    assert f"now with {names[39]}, {names[40]}" in sentence
    picked = order.pick(names[1:], np.ones((40, 3)))
    assert np.isnan(picked[0]).all()
    assert np.isfinite(picked[1:]).all()


def test_labels_that_fit_twice_are_reported():
    order = LabelOrder(hd.catalog.hdm())
    (sentence,) = order.update(("A:LASI", "B:LASI", "LFWT", "L_FWT"))
    assert isinstance(sentence, str)
    assert order.pick(("A", "B", "C", "D"), np.zeros((4, 3))).shape == (41, 3)
