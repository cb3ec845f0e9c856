"""Builders: from a generator of examples to sharded files with metadata."""

if not __name__.startswith("featurekit."):
    raise ImportError(
        "import featurekit.builders: the bare name makes a second copy of every class"
    )
