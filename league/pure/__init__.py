"""Pairing, rating, formats and calendars as functions of plain data: no database, no Django, no clock."""
