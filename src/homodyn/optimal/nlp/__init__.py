"""The nonlinear program of a transcribed problem and its derivatives."""
