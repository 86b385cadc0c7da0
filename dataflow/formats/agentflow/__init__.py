"""The format of AgentFlow: workflows of AgentFlow, in JSON."""
