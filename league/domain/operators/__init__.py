"""What operators do to what belongs to others: one table of actions (`actions`), and the one way to carry them out (`acting`).

The pages under /operators/, the addresses of the API and the commands follow from the table.
"""
