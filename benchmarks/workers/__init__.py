"""The processes that compute: one per contestant, each doing one repetition whenever the parent asks.

They run in the environments of what they measure, so they import the standard library and that alone.
"""
