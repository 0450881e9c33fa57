"""One endpoint's chat model, asked through the ``openai`` package.

A reply is read strictly: JSON as the protocol has it, one choice, text or tool calls. Whatever
else comes, or does not come, is one :class:`~gitmem.errors.ModelFailed` that says why without
repeating the reply, a key, or more of an address than its host.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, StrictInt, StrictStr, ValidationError

from gitmem.domain.actors import model_key, model_skeleton
from gitmem.errors import ModelFailed
from gitmem.llm.budget import CHARACTERS, Budget, Usage
from gitmem.llm.settings import RoleSettings, check_endpoint, is_loopback

if TYPE_CHECKING:
    import openai

#: Characters of a model's id.
MAX_MODEL = 200
#: Tokens of one question that an endpoint can mean; of more, or less than none, it counts none.
MAX_TOKENS = 10**9
#: Characters of the shortest key that is a secret, and no word in place of one.
MIN_KEY = 12
_NO_ID = re.compile(r"[^\x21-\x7e]")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that a model wants to be called; ``arguments`` is JSON as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said. ``model`` is the id that the endpoint reports, as it can be recorded,
    and empty where it reports none that could be compared with another's."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str
    model: str
    usage: Usage


class _Function(BaseModel):
    name: StrictStr
    arguments: StrictStr


class _Call(BaseModel):
    id: StrictStr
    function: _Function


class _Message(BaseModel):
    content: StrictStr | None = None
    refusal: StrictStr | None = None
    tool_calls: tuple[_Call, ...] | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: StrictStr | None = None


class _Tokens(BaseModel):
    prompt_tokens: StrictInt = 0
    completion_tokens: StrictInt = 0


class _Completion(BaseModel):
    """What is read of a chat completion; endpoints add to it as they like."""

    choices: tuple[_Choice, ...]
    model: StrictStr | None = None
    usage: _Tokens | None = None


class ModelClient:
    """The model of one role. Not for several threads; close it, or use it as a context manager.

    ``environ`` is where the key is looked for, at the first question.
    """

    def __init__(self, settings: RoleSettings, environ: Mapping[str, str]) -> None:
        check_endpoint(settings.base_url)
        self.settings = settings
        self._environ = environ
        self._client: openai.OpenAI | None = None
        self._key_sent = ""
        # What this endpoint does not take, found out by asking.
        self._without: set[str] = set()

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def __enter__(self) -> ModelClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def takes_schema(self) -> bool:
        """Whether the endpoint has taken every schema that went along so far."""
        return "response_format" not in self._without

    def who(self, model: str) -> str:
        """Return ``model:ID@HOST`` for a model of this endpoint, as it is recorded."""
        return f"model:{_recordable(model)[:MAX_MODEL]}@{self.settings.host}"

    def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        budget: Budget,
        tools: Sequence[Mapping[str, Any]] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Ask one question.

        ``schema`` is what the answer's JSON has to be like; it goes along where the endpoint
        takes one, and binds nobody: the answer is read strictly all the same.

        Raises:
            ModelFailed: no usable reply, in any way, or the budget is spent.
        """
        data = self._asked(messages, tools, schema, budget)
        completion = self._read(data)
        (choice,) = completion.choices
        said = choice.message
        text = said.content or ""
        usage = self._usage(completion, messages, text)
        budget.spend(usage)
        if said.refusal:
            raise self._failed("it refused to answer")
        calls = tuple(
            ToolCall(call.id, call.function.name, call.function.arguments)
            for call in said.tool_calls or ()
        )
        model = reported_id(completion.model or "")
        return Reply(text, calls, choice.finish_reason or "", model, usage)

    def _asked(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        schema: Mapping[str, Any] | None,
        budget: Budget,
    ) -> bytes:
        """Send the question, again without what the endpoint does not take."""
        import openai

        client = self._opened()
        before = set(self._without)
        while True:
            request = self._request(messages, tools, schema)
            try:
                return self._sent(client, request, budget)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if self._give_up(request, error):
                    continue
                self._without = before  # it was something else: the next question may be taken
                raise self._failed(f"it refused the question ({_status(error)})") from None

    def _request(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        schema: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        request: dict[str, Any] = {"model": self.settings.model, "messages": list(messages)}
        limit = "max_completion_tokens" if "max_tokens" in self._without else "max_tokens"
        request[limit] = self.settings.max_output
        if "temperature" not in self._without:
            request["temperature"] = 0
        if tools:
            request["tools"] = list(tools)
        if schema is not None and "response_format" not in self._without:
            named = {"name": "answer", "schema": schema, "strict": True}
            request["response_format"] = {"type": "json_schema", "json_schema": named}
        return request

    def _give_up(self, request: Mapping[str, Any], error: openai.APIStatusError) -> bool:
        """Do without one thing that the endpoint may not have taken; whether there was one.

        Endpoints that say which parameter it was are believed; for others, one after the other.
        """
        may = [name for name in ("response_format", "temperature", "max_tokens") if name in request]
        named = getattr(error, "param", None)
        less = named if named in may else may[0] if may else None
        if less is None:
            return False
        self._without.add(less)
        return True

    def _sent(self, client: openai.OpenAI, request: dict[str, Any], budget: Budget) -> bytes:
        import httpx2
        import openai

        from gitmem.llm.wire import Unreadable, within

        timeout = min(self.settings.timeout, budget.left())
        whole = min(self.settings.timeout * (self.settings.retries + 1), budget.left())

        def ask() -> bytes:
            with client.chat.completions.with_streaming_response.create(
                **request, timeout=timeout
            ) as response:
                data = bytearray()
                for chunk in response.iter_bytes():
                    data += chunk
                    budget.left()
                return self._without_key(bytes(data))

        try:
            return within(whole, ask)
        except (openai.BadRequestError, openai.UnprocessableEntityError):
            raise
        except (openai.APITimeoutError, httpx2.TimeoutException):
            raise self._failed(f"no whole reply within {round(timeout, 2):g} seconds") from None
        except TimeoutError:
            self._client = None  # it is still busy
            raise self._failed(f"no whole reply within {round(whole, 2):g} seconds") from None
        except openai.APIStatusError as error:
            raise self._failed(_status(error), hint=_HINTS.get(error.status_code, "")) from None
        except Unreadable as error:
            raise self._failed(str(error)) from None
        except (openai.OpenAIError, httpx2.HTTPError):
            raise self._failed(
                "it cannot be reached, or the connection broke",
                hint="Is it running, and its address right? `gitmem config show` prints that.",
            ) from None

    def _without_key(self, data: bytes) -> bytes:
        """Return a reply without the key, where an endpoint repeats it: errors, reviews and
        proposals hold parts of replies."""
        key = self._key_sent.encode()
        return data.replace(key, b"[the key]") if len(key) >= MIN_KEY else data

    def _read(self, data: bytes) -> _Completion:
        try:
            completion = _Completion.model_validate_json(data)
        except ValidationError:
            raise self._failed("what came back is no chat completion") from None
        if len(completion.choices) != 1:
            raise self._failed(f"it answered with {len(completion.choices)} choices")
        return completion

    def _usage(
        self, completion: _Completion, messages: Sequence[Mapping[str, Any]], text: str
    ) -> Usage:
        told = completion.usage or _Tokens()
        asked, said = told.prompt_tokens, told.completion_tokens
        if not 0 < asked <= MAX_TOKENS:
            asked = len(json.dumps(list(messages), ensure_ascii=False)) // CHARACTERS
        if not 0 < said <= MAX_TOKENS:
            said = len(text) // CHARACTERS
        return Usage(asked, said, 1)

    def _opened(self) -> openai.OpenAI:
        if self._client is None:
            import httpx2
            import openai

            from gitmem.llm.wire import Wire, quieten

            quieten()
            settings = self.settings
            local = is_loopback(settings.host.rpartition(":")[0] or settings.host)
            url = httpx2.URL(settings.base_url)
            if url.scheme == "http" and not (local and is_loopback(url.host)):
                raise self._failed("its address can be read in two ways")
            self._key_sent = self._key(local)
            # The key is known to the wire alone; the package takes others from its own variables,
            # and they are meant for its own host.
            self._client = openai.OpenAI(
                api_key="none",
                base_url=settings.base_url,
                max_retries=settings.retries,
                http_client=Wire(
                    key=self._key_sent,
                    local=local,
                    tls=url.scheme == "https",
                    timeout=settings.timeout,
                ),
            )
        return self._client

    def _key(self, local: bool) -> str:
        settings = self.settings
        key = ""
        if settings.api_key_env:
            key = self._environ.get(settings.api_key_env, "").strip()
        elif settings.api_key_file:
            try:
                key = Path(settings.api_key_file).expanduser().read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                why = error.strerror if isinstance(error, OSError) else "it is no text"
                raise self._failed(f"{settings.api_key_file} holds no key: {why}") from None
        if not key.isascii() or not key.isprintable() or " " in key:
            raise self._failed("its key is no key: it holds what no key does")
        if key:
            return key
        if local:
            return "none"
        wanted = settings.api_key_env or "the variable that api_key_env names"
        raise self._failed(
            f"there is no key for it: {wanted} is not set",
            hint=f"Set it, or name another one: gitmem config set {settings.role}.api_key_env NAME",
        )

    def _failed(self, why: str, *, hint: str = "") -> ModelFailed:
        settings = self.settings
        return ModelFailed(
            f"the {settings.role} ({settings.model} at {settings.host}) gave no usable answer: "
            f"{why}",
            hint=hint or f"To try the endpoint: gitmem config check {settings.role}",
        )


def reported_id(model: str) -> str:
    """Return the id that an endpoint reports as it is recorded: printable ASCII.

    Empty where it cannot be compared: it is too long, or its name (behind the last slash) is
    empty or holds characters by which it could look like another, or be none at all.
    """
    name = re.split(r"[/\\]", model)[-1]
    if len(model) > MAX_MODEL or not name.isascii() or not name.isprintable():
        return ""
    recorded = _recordable(model)
    return recorded if model_skeleton(recorded) and model_key(f"model:{recorded}@host") else ""


def _recordable(model: str) -> str:
    # "@" begins the host; some write a version behind it, as others do behind "-".
    return _NO_ID.sub("_", model.strip().replace("@", "-"))


def _status(error: openai.APIStatusError) -> str:
    return f"HTTP status {error.status_code}"


_HINTS = {
    401: "The endpoint does not take the key.",
    403: "The endpoint does not allow this key to do that.",
    404: "The endpoint knows no such model, or its address is wrong: it usually ends in /v1.",
    429: "The endpoint is asked too often, or the account has no credit left.",
}
