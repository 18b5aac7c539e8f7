"""The time that an import takes, in processes of their own."""
