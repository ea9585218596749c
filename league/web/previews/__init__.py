"""Pictures for link previews."""
