"""Small programs that look after the repository."""
