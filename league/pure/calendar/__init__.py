"""Events and seasons as plain data: plans, due times, divisions."""
