"""The process that plays matches."""
