"""The statement of an optimal-control problem: phases, objective terms, constraints, loads."""
