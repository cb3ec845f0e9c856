"""The wire messages of tf.train.Example, generated from `example.proto`.

The generated module is made with protoc 26.1 (`grpcio-tools==1.64.0`), the last
line whose code checks no runtime version: it loads under protobuf 5, 6 and 7.
Make it again, from the repository root, with

    python -m grpc_tools.protoc -I . --python_out=. --pyi_out=. featurekit/proto/example.proto
"""
