"""Shapes of requests and responses, as OpenAI's API has them: types only, nothing that runs.

`TypedDict` comes from typing_extensions: before Python 3.12 pydantic takes no other.
"""
