"""A dataset on disk: its names, versions, files and splits."""
