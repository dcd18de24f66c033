"""Observers: the pose of a floating root from joint angles and the loads of the supports."""
