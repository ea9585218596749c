"""The `manage.py` commands of operators, and their shared code."""
