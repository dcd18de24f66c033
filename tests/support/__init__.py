"""What several tests build on: random trees, a human-like tree, and the same in other engines."""
