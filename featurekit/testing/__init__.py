"""For authors' own tests: checks of connectors and builders, and made-up data.

A suite states a connector, values it takes and values it refuses, and inherits the tests::

    from featurekit.testing import Bad, Case, ConnectorSuite

    class TestPercent(ConnectorSuite):
        connector = Percent()
        valid = (Case(value=0.25, stored=[25], decoded=np.float32(0.25)),)
        invalid = (Bad(value="a lot", error=TypeError, match="str"),)

`check_builder` runs a builder on a folder of fake raw data; `mock_data` gives datasets
made-up examples, `fake_examples` makes them from features alone. The public names are imported
when they are first used: pytest loads `featurekit.testing.plugin` wherever featurekit is
installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from featurekit import lazy

if TYPE_CHECKING:
    from featurekit.testing.builder_checks import FakeDownloads, check_builder
    from featurekit.testing.cases import Bad, Case
    from featurekit.testing.compare import assert_same
    from featurekit.testing.fake_values import Fakes, fake_examples, fake_value
    from featurekit.testing.mock import mock_data
    from featurekit.testing.suite import ConnectorSuite

__all__ = [
    "Bad",
    "Case",
    "ConnectorSuite",
    "FakeDownloads",
    "Fakes",
    "assert_same",
    "check_builder",
    "fake_examples",
    "fake_value",
    "mock_data",
]

_MODULES = {
    "Bad": "featurekit.testing.cases",
    "Case": "featurekit.testing.cases",
    "ConnectorSuite": "featurekit.testing.suite",
    "FakeDownloads": "featurekit.testing.builder_checks",
    "Fakes": "featurekit.testing.fake_values",
    "assert_same": "featurekit.testing.compare",
    "check_builder": "featurekit.testing.builder_checks",
    "fake_examples": "featurekit.testing.fake_values",
    "fake_value": "featurekit.testing.fake_values",
    "mock_data": "featurekit.testing.mock",
}

__getattr__, __dir__ = lazy.attach(globals(), _MODULES)
