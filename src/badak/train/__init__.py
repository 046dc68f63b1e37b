"""Training: one loop on one screen, and what stands around it: evaluation, resume, metrics, curves, pictures."""
