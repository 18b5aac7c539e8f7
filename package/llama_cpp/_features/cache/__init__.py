"""What requests can go back to: states of whole prompts, and checkpoints of memory that cannot be cut."""
