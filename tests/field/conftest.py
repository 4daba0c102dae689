"""The same machine that the command line tests have."""

from tests.cli.conftest import shell

__all__ = ["shell"]
