"""Isolated homes that let a real agent program run offline against a scripted model server."""
