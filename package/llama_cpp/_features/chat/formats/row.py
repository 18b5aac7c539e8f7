"""A prompt format as data, and the formatter that follows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from llama_cpp._features.chat.formatter import ChatFormatterResponse
from llama_cpp._features.chat.messages import text_messages


@dataclass(frozen=True, kw_only=True)
class PromptFormat:
    """How turns are written. `{content}` stands for a message's text; in `turns` the key is the role.

    The prompt is `start`, the turns, and `answer`, which begins the assistant's turn. BOS is not part of it: the model's
    vocabulary says whether there is one. `system` says what becomes of a
    system message: a turn of its own, at the head of the first user's turn as `system_text` has it, or left out.
    """

    name: str
    start: str = ""
    turns: Mapping[str, str]
    answer: str
    system: Literal["turn", "head", "none"] = "turn"
    system_text: str = "{content}\n\n"
    stops: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=lambda: {"developer": "system", "tool": "user", "function": "user"})
    """Roles that are written like another, where a format has no turn for them."""
    shows_tools = False
    stripped: bool = False
    """White space around a message is dropped."""

    def prompt(self, messages: Sequence[Any], *, add_generation_prompt: bool = True) -> str:
        """The prompt of a conversation."""
        written: list[str] = [self.start]
        head = ""
        for message in text_messages(messages):
            role, content = self._role(message["role"]), message.get("content") or ""
            content = content.strip() if self.stripped else content
            if role == "system" and self.system != "turn":
                head += self.system_text.replace("{content}", content) if self.system == "head" else ""
                continue
            if role == "user" and head:
                content, head = head + content, ""
            written.append(self.turns[role].replace("{content}", content))
        if head:  # a system message, and nobody to say it to
            written.append(self.turns["user"].replace("{content}", head))
        return "".join(written) + (self.answer if add_generation_prompt else "")

    def __call__(self, *, messages: Sequence[Any], add_generation_prompt: bool = True, **_: Any) -> ChatFormatterResponse:
        """A `ChatFormatter`."""
        return ChatFormatterResponse(prompt=self.prompt(messages, add_generation_prompt=bool(add_generation_prompt)), stop=list(self.stops))

    def _role(self, role: str) -> str:
        known = role if role in self.turns or role == "system" else self.roles.get(role, "")
        if known not in self.turns and known != "system":
            raise ValueError(f"the chat format {self.name!r} has no role {role!r}; its roles are: {', '.join(self.turns)}")
        return known
