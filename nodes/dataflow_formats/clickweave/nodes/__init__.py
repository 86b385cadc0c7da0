"""The node types of Clickweave flows: tool calls, searches, branches, checks."""
