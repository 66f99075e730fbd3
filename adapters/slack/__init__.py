"""Slack, through slack-bolt: Socket Mode or signed HTTP in, the Web API out."""
