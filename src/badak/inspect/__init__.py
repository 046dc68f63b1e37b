"""Tools that look at a model or a training run: audit, doctor, visualize, introspection, profiling."""
