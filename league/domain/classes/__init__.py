"""Classes: teachers, students, assignments, and the measurement of what students hand in."""
