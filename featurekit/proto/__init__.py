r"""The wire messages of tf.train.Example and of tensors, generated from the .proto files.

The generated modules are made with protoc 26.1 (`grpcio-tools==1.64.0`), the last
line whose code checks no runtime version: they load under protobuf 5, 6 and 7.
Make them again, from the repository root, with

    python -m grpc_tools.protoc -I . --python_out=. --pyi_out=. \
        featurekit/proto/example.proto featurekit/proto/tensor.proto
"""
