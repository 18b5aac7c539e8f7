"""The prompt formats that have a name: rows of a table, and the irregular ones in code."""
