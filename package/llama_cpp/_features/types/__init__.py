"""Shapes of requests and responses, as OpenAI's API has them: types only, nothing that runs."""
