"""Encoded pictures to arrays and back: one module a file format."""
