"""For tests of programs that use gitmem: models that say what a test wants them to say.

:class:`ScriptedModels` is a real HTTP server on this machine that speaks the OpenAI protocol;
only the words are scripted::

    with ScriptedModels() as models:
        models.say("writer-1", "[]")
        client = openai.OpenAI(base_url=models.url, api_key="none")
"""

from gitmem.testing.server import Answer, ScriptedModels, tool_call

__all__ = ["Answer", "ScriptedModels", "tool_call"]
