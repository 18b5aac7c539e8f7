"""Chat: prompts from messages, and messages from what a model writes."""
