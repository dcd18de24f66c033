"""What several laws share is computed once when they stand in one kernel (Felis section 3.5.5)."""

import numpy as np

from homodyn import dynamics as laws
from homodyn.bench.dynamics import both_feet
from homodyn.catalog import heiman
from homodyn.symbolic import kernel
from homodyn.symbolic.passes.pipeline import lower_and_contract


def length(created) -> int:
    return len(lower_and_contract(created.traced.graph))


def test_a_contact_setup_in_one_kernel_is_shorter_than_its_parts_and_gives_the_same():
    model, feet = heiman(), both_feet()

    def setup(q, v):
        return (
            laws.mass_matrix(model, q),
            laws.bias_force(model, q, v),
            laws.constraint_rows.constraint_jacobian(model, q, feet),
            laws.constraint_rows.constraint_bias(model, q, v, feet),
        )

    together = kernel(setup, q=model.nq, v=model.nv)
    rng = np.random.default_rng(8)
    q = model.neutral() + 0.2 * rng.normal(size=(20, model.nq))
    v = rng.normal(size=(20, model.nv))
    parts = [
        laws.mass_matrix.kernel(model, q),
        laws.bias_force.kernel(model, q, v),
        laws.constraint_rows.constraint_jacobian.kernel(model, q, feet),
        laws.constraint_rows.constraint_bias.kernel(model, q, v, feet),
    ]
    assert length(together) < 0.9 * sum(length(part) for part in parts)
    apart = [parts[0](q), parts[1](q, v), parts[2](q), parts[3](q, v)]
    for one, other in zip(together(q, v), apart, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12 * np.abs(other).max())
