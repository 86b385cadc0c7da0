"""The format of cagent: the `workflow` of agent files of cagent, in YAML."""
