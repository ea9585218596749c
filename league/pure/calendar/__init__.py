"""Events and seasons as plain data: plans, due moments, divisions."""
