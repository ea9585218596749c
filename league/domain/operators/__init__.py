"""The actions of operators: one table (`actions`), and the one way to carry them out (`acting`).

The pages under /operators/, the API and the commands are derived from the table.
"""
