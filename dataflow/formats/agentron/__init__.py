"""The format of Agentron Studio: workflows of Agentron Studio, in JSON."""
