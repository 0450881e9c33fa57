"""Patterns are compiled when they are first asked."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from gitmem.rules import chinese, chinese_marks, english, english_marks, pasted, values
from gitmem.rules.grammar import Lazy

PROPOSE = """
import json, sys
from gitmem.domain.session import Message, Part
from gitmem.rules import chinese, english, matching, propose
said = Part.model_validate({"kind": "text", "class": "human", "text": sys.argv[1]})
found = propose([Message(index=0, role="user", parts=(said,))], [])
done = [sum("compiled" in vars(rule.pattern) for rule in of.RULES) for of in (english, chinese)]
print(json.dumps([len(found.items), *done]))
"""


def test_a_sentence_compiles_only_the_rules_whose_cues_stand_in_it() -> None:
    text = "We always use tabs for indentation in this repository."
    done = subprocess.run(
        [sys.executable, "-c", PROPOSE, text], capture_output=True, check=True, text=True
    )
    items, compiled_english, compiled_chinese = json.loads(done.stdout)
    assert items == 1
    assert 0 < compiled_english < len(english.RULES) / 2
    assert compiled_chinese == 0


@pytest.mark.parametrize("module", [chinese, chinese_marks, english, english_marks, pasted, values])
def test_every_pattern_can_be_compiled(module: object) -> None:
    found = [value for value in vars(module).values() if isinstance(value, Lazy)]
    for group in ("RULES", "GUARDS"):
        found += [one.pattern for one in getattr(module, group, ())]
    assert found
    for pattern in found:
        assert pattern.compiled == re.compile(pattern.pattern, pattern.flags)
