"""Bytes on disk: TFRecord files and the tf.train.Example messages inside them."""
