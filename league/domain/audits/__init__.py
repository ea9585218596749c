"""Audits: conversations of finished matches, repeated with the same bots."""
