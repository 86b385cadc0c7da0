"""The format of Clickweave: workflows of Clickweave, in JSON."""
