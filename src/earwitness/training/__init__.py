"""Detectors trained on frozen features, on mixtures whose truth is known."""
