"""Driving a context token by token: what it holds, what of it can be reused, whose turn it is."""
