"""The agent pack: its node types come with a later release."""
