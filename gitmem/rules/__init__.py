"""The offline proposer: rules, English and Chinese, over what a person wrote. No model.

Precision goes before recall: what is a question, hypothetical, quoted, withdrawn or for the
moment gives nothing and is listed with its reason.
"""

from __future__ import annotations

from gitmem.rules.model import KnownRecord, PassedOver, RuleResult
from gitmem.rules.propose import propose

__all__ = ["KnownRecord", "PassedOver", "RuleResult", "propose"]
