"""Asking models, over any endpoint that speaks the OpenAI protocol.

The only user of ``openai``, which is imported when the first question is asked. What an answer
has to look like is a matter of the reader that a caller gives; here is what every question has
in common: endpoints, keys, limits, retries, budgets, one repair round, and read-only tools.
"""

from gitmem.llm.agent import Tool, run_agent
from gitmem.llm.budget import Budget, Usage
from gitmem.llm.client import ModelClient, Reply
from gitmem.llm.metering import MeteredClient
from gitmem.llm.probe import Probe, probe
from gitmem.llm.recording import RecordingClient
from gitmem.llm.settings import ROLES, RoleSettings, check_endpoint
from gitmem.llm.side_query import Asked, ask

__all__ = [
    "ROLES",
    "Asked",
    "Budget",
    "MeteredClient",
    "ModelClient",
    "Probe",
    "RecordingClient",
    "Reply",
    "RoleSettings",
    "Tool",
    "Usage",
    "ask",
    "check_endpoint",
    "probe",
    "run_agent",
]
