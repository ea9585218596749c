"""Pairings: movements of tables and seats."""
