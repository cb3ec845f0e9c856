"""`python -m featurekit.cli` is the same as `featurekit`."""

from featurekit.cli import main

main()
