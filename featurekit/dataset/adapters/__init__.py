"""Examples for other frameworks: one module each, which imports its framework when called."""
