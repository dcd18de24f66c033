"""Meshes are refined where errors between nodes exceed their tolerances."""

import homodyn as hd
from homodyn.optimal.verify.mesh_refinement import refine_intervals


def test_meshes_grow_where_intervals_miss_the_next_node():
    class Defect:
        def __init__(self, worst):
            self.phase, self.max_error = "any", worst

    class Errors:
        integration_defects = tuple(map(Defect, (0.014, 0.112, 1.0, 0.0)))
        path_violations = ()

    scheme = hd.optimal.TRANSCRIPTIONS["midpoint"]
    assert refine_intervals((10, 4, 3, 3), Errors(), 0.02, scheme) == (10, 9, 9, 3)
