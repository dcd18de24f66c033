"""An experiment for the swinging arm of `support.live_arm`, as a TOML file."""

REACH = """
format = "homodyn experiment 1"
name = "reach and trace"
pointer = "FIN"
seed = 3

[start]
position = [0.2, 0.0, 0.95]
radius = 0.1

[[target]]
name = "one"
position = [0.35, 0.0, 1.0]

[[target]]
name = "two"
position = [0.2, 0.1, 1.1]
radius = 0.08

[[path]]
name = "loop"
points = [[0, 0, 0], [0.4, 0, 0], [0.4, 0, 0.4], [0, 0, 0.4]]
closed = true
scale = 0.5
offset = [0.1, 0.0, 0.9]

[[block]]
name = "reaching"
task = "reach"
trials = ["one", "two"]
repeat = 2
shuffle = true
condition = "light"

[[block.stimulus]]
quantity = "effort"
property = "size"
low = 0.0
high = 10.0
first = 1.0
last = 2.0

[[block]]
name = "tracing"
task = "trace"
speed = 0.5
speed_sd = 0.1
random_start = true
limit = 60.0

[[block.stimulus]]
quantity = "torque:elbow"
property = "color"
low = 0.0
high = 4.0
first = [0.0, 1.0, 0.0]
last = [1.0, 0.0, 0.0]
"""
