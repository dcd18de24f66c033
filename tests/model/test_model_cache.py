"""Values that are computed once per model."""

import gc
import weakref

from homodyn.model.model_cache import ModelCache
from support.small_models import two_links


class Value:
    pass


def test_a_value_is_computed_once_per_model_and_key():
    cache: ModelCache[Value] = ModelCache("values of a test")
    first, second = two_links(), two_links()
    one = cache.get(first, "a", Value)
    assert cache.get(first, "a", Value) is one
    assert cache.get(first, "b", Value) is not one
    # Equal models do not share values: each owns its kernels.
    assert first == second
    assert cache.get(second, "a", Value) is not one
    assert ModelCache("other values of a test").of(first) == {}


def test_values_live_as_long_as_their_model():
    cache: ModelCache[Value] = ModelCache("more values of a test")
    model = two_links()
    watched = weakref.ref(cache.get(model, "a", Value))
    gc.collect()
    assert watched() is not None
    del model
    gc.collect()
    assert watched() is None


def test_a_cache_is_not_part_of_the_content_of_a_model():
    model, plain = two_links(), two_links()
    ModelCache("values beside the content").get(model, "a", Value)
    assert model == plain
    assert model.to_dict() == plain.to_dict()
