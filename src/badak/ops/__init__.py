"""Operations: one class each, with its forward and its hand-derived backward, both on arrays; no tensor is known here."""
