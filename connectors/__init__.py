"""Feature connectors: one file each, how one field of an example is stored."""

if not __name__.startswith("featurekit."):
    raise ImportError(
        "import featurekit.connectors: the bare name makes a second copy of every class"
    )
