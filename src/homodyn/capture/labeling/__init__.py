"""Which label, or which nameless point, is which marker."""
