"""TensorFlow Datasets' connectors, builders and files, without TensorFlow."""

__version__ = "0.1.0"
