"""For authors' own tests: checks that a connector keeps every promise of its base class.

A suite states a connector, values it takes and values it refuses, and inherits the tests::

    from featurekit.testing import Bad, Case, ConnectorSuite

    class TestPercent(ConnectorSuite):
        connector = Percent()
        valid = (Case(value=0.25, stored=[25], decoded=np.float32(0.25)),)
        invalid = (Bad(value="a lot", error=TypeError, match="str"),)
"""

from featurekit.testing.cases import Bad, Case
from featurekit.testing.compare import assert_same
from featurekit.testing.suite import ConnectorSuite

__all__ = ["Bad", "Case", "ConnectorSuite", "assert_same"]
