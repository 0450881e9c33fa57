"""The memory that these tests begin with."""

from tests.store.stories import _template, proposal, root

__all__ = ["_template", "proposal", "root"]
