"""Embedding models: one file each, found by name, imported only when asked for."""
