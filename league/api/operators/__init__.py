"""What operators do, in the API."""
