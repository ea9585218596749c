"""What rows look like as JSON, and what requests may hold."""
