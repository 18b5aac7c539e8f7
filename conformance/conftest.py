"""Fixtures of the whole suite: models, and the check around every test that nothing native is left behind."""
