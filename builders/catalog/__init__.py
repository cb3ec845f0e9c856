"""Real small datasets that featurekit can build offline."""
