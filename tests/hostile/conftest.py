"""The memory that these tests begin with."""

from tests.cli.conftest import gitmem, terminal
from tests.store.stories import _template, proposal, root

__all__ = ["_template", "gitmem", "proposal", "root", "terminal"]
