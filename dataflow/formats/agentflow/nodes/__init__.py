"""The node types that flows of AgentFlow are made of."""
