"""Where each claim of van den Kieboom 2014 about its language and mechanics is shown.

The numbers are those under which the claims were collected; two of them are figures of speed, which
`homodyn bench network` measures.
"""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
SPEED = {
    20: "a grid of runners: generated code against the interpreter",
    34: "chains of 5 to 50 links in two forms, with and without sparsity",
}
CHECKS = {
    1: ("two coupled states", "two_coupled_states_follow_their_exact_solution"),
    2: ("a falling mass", "a_falling_mass_by_euler", "expectations_in_the_text_are_met"),
    3: ("terminal velocities", "expectations_in_the_text_are_met"),
    4: ("a spring between masses", "spring_forces_cancel"),
    5: ("generated nodes", "expanded_nodes_equal_nodes_written_by_hand"),
    6: (
        "dense coupling",
        "dense_coupling_has_fifty_edges_and_follows_the_seed",
        "draws_do_not_depend_on_the_order_of_definitions",
    ),
    7: ("contexts", "expectations_in_the_text_are_met", "contexts_reach_outwards"),
    8: ("selectors", "selected_nodes_and_edges", "selectors"),
    9: ("templates of a chain", "a_chain_of_five_has_eight_edges"),
    10: ("draws", "draws_hold_in_a_step_change_between_steps_and_follow_the_seed"),
    11: (
        "symbolic operators",
        "the_time_derivative_of_a_state_is_its_equation",
        "the_partial_derivative_of_a_column_is_its_jacobian",
        "derivatives_of_built_ins_match_finite_differences",
    ),
    12: ("delays", "delays_reproduce_a_shifted_sine_and_honor_the_start"),
    13: (
        "refinement of events",
        "pogo_sticks_touch_down_within_their_tolerance",
        "events_that_are_met_closely_keep_the_energy_of_a_bounce",
        "a_line_that_lands_before_the_zero_counts_within_the_tolerance",
        "strongly_bent_conditions_do_not_stall",
    ),
    14: ("conditions with and, or", "conditions_joined_by_and_or_and_not"),
    15: (
        "matrices",
        "a_product_is_of_matrices_when_inner_sizes_agree_and_elementwise_otherwise",
        "indices_count_from_zero_and_ranges_leave_out_their_end",
        "size_errors_name_both_shapes",
    ),
    16: ("orders of integrators", "orders_of_the_methods"),
    17: ("a traveling wave", "hopf_oscillators_lock_a_fifth_of_a_turn_apart"),
    18: (
        "oscillators",
        "the_period_of_van_der_pol",
        "matsuoka_oscillates_about_zero",
        "morphed_oscillators_follow_their_shape_in_phase",
    ),
    19: (
        "the runner",
        "steps_of_the_spring_leg",
        "the_stable_cells_of_the_spring_leg_make_a_band_shaped_like_a_j",
    ),
    21: (
        "a chain of five",
        "the_chain_of_the_library_moves_as_known",
        "the_chain_of_the_library_keeps_its_energy_without_damping",
    ),
    22: (
        "recursions on random trees",
        "inverse_dynamics_takes_back_what_forward_dynamics_did",
        "a_tree_of_all_joints_has_the_mass_matrix_bias_and_accelerations_of_dynamics",
    ),
    23: (
        "joints from two functions",
        "motion_subspaces_and_biases_are_those_derived_by_hand",
        "a_free_body_keeps_its_momentum_and_its_quaternion_its_length",
    ),
    24: (
        "Jacobians",
        "jacobians_are_the_derivatives_of_places",
        "a_rebased_jacobian_gives_the_motion_seen_from_a_body",
    ),
    25: (
        "a closed chain",
        "a_parallelogram_swings_with_its_known_period",
        "the_closure_drifts_little_and_not_at_all_with_stabilization",
    ),
    26: (
        "the pantograph",
        "the_pantograph_closes_where_it_starts_moves_in_two_ways_and_loses_energy",
    ),
    27: (
        "sparse factors",
        "factors_of_a_mass_matrix_with_branches",
        "factors_along_branches_take_less_work_than_those_of_a_chain",
    ),
    28: ("a redundant loop", "a_loop_closed_twice_moves_as_if_closed_once"),
    29: ("forces that hold", "forces_at_joints_and_closure_balance_weight_and_momentum"),
    30: (
        "soft contacts",
        "a_block_at_rest_sinks_in_by_its_weight_over_the_stiffness",
        "a_pushed_block_sticks_below_the_limit_of_friction_and_slides_above_it",
    ),
    31: (
        "hard contacts",
        "a_hard_contact_comes_to_rest_at_the_impact_and_earlier_ones_stay",
        "an_impact_takes_the_kinetic_energy_that_its_impulse_must",
        "a_hard_contact_lets_go_when_the_ground_would_have_to_pull",
    ),
    32: (
        "a driven closure",
        "a_driven_closure_moves_the_loop_as_a_driven_joint_of_another_tree_does",
    ),
    33: (
        "generated code",
        "both_tiers_agree",
        "generated_c_runs_on_its_own_like_a_run_in_python",
        "parameters_may_be_changed_after_prepare",
    ),
}
"""Claim, and the tests of this folder that show it."""


def test_every_claim_has_its_number():
    assert sorted([*CHECKS, *SPEED]) == list(range(1, 35))


@pytest.mark.parametrize("number", CHECKS)
def test_the_tests_that_show_a_claim_are_there(number):
    texts = [path.read_text(encoding="utf-8") for path in FOLDER.rglob("test_*.py")]
    known = {name for text in texts for name in re.findall(r"^def test_(\w+)", text, re.M)}
    _, *tests = CHECKS[number]
    assert [name for name in tests if name not in known] == []


def test_figures_of_speed_are_measured():
    from homodyn.bench import benchmarks

    assert "network" in benchmarks()
