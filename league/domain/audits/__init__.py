"""Audits: conversations of finished matches put to their bots again."""
