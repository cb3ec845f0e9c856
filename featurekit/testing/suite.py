"""ConnectorSuite: all tests of a connector, by inheritance."""

from __future__ import annotations

from featurekit.testing.batch_checks import BatchChecks
from featurekit.testing.container_checks import ContainerChecks
from featurekit.testing.metadata_checks import MetadataChecks
from featurekit.testing.value_checks import ValueChecks

__all__ = ["ConnectorSuite"]


class ConnectorSuite(ValueChecks, BatchChecks, ContainerChecks, MetadataChecks):
    """All tests of a connector; a pytest class that states its values inherits them.

    See `SuiteBase` for what a suite states. Further tests of the connector can stand in the
    same class, and `make()` gives them the connector.

    Example:
        >>> import numpy as np
        >>> from featurekit.connectors.scalar import Scalar
        >>> from featurekit.errors import EncodeError
        >>> from featurekit.testing import Bad, Case, ConnectorSuite
        >>> class TestByte(ConnectorSuite):
        ...     connector = Scalar(np.uint8)
        ...     valid = (Case(value=7, stored=[7], decoded=np.uint8(7)),)
        ...     invalid = (Bad(value=300, error=EncodeError, match="300 does not fit uint8"),)
        >>> TestByte().test_is_read_back(TestByte.valid[0])
    """
