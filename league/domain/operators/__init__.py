"""The actions of operators: one table of them (`actions`), and one function that carries them out (`acting`).

The pages under /operators/, the API and the commands are derived from the table.
"""
