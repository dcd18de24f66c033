"""Files of recordings: C3D, TRC, MOT and STO, CSV."""
