"""How the torques of joints are shared among muscles: convex programs and their solvers."""
