# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from hypothesis import settings


def pytest_configure(config):
    config.addinivalue_line("markers", "builds: builds programs once more; not in `make quick`")


# Runs repeat: inputs follow from the tests themselves, no clock or database decides.
settings.register_profile("unit", derandomize=True, deadline=None, database=None)
settings.load_profile("unit")
