"""Who meets whom: movements of tables and seats."""
