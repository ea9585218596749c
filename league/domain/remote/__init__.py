"""Remote bots: they play from their authors' machines, in pools of their own (docs/remote-bots.md)."""
