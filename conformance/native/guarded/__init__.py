"""Calls that would end the process, for `test_guarded_calls`."""
