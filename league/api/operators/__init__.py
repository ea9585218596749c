"""Actions of operators in the API."""
