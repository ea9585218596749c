"""Players: accounts, tokens, rights and quotas."""
