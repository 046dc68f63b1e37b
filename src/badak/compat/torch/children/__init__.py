"""The folder that `badak run` puts on the PYTHONPATH of the Pythons that its program starts."""
