"""The deck of cards as drawings."""
