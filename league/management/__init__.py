"""What an operator does by hand: `manage.py` commands and what they share."""
