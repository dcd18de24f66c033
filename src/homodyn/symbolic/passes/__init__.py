"""Optimization passes over programs, in the order of `homodyn.symbolic.passes.pipeline`."""
