"""A server of models: `engine.py` writes many texts at once, `app.py` speaks HTTP as OpenAI's API does."""
