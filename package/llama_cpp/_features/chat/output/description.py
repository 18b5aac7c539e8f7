"""How the formats of models' output are described: data alone. `formats` has the rows; `parser` reads, `tool_grammar` constrains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

TOOL_NAME = r"[\w.\-/:@]+"
"""What the name of a tool may be, as a regular expression: OpenAI's characters and some more."""


@dataclass(frozen=True, kw_only=True)
class JsonCalls:
    """JSON objects with the keys `name` and one of `arguments`; `keyed`: objects `{NAME: ARGUMENTS}`.

    A list is read wherever one object is; `listed` says that the format writes one, also around a single call.
    """

    name: str = "name"
    arguments: tuple[str, ...] = ("arguments", "parameters")
    keyed: bool = False
    listed: bool = False


@dataclass(frozen=True, kw_only=True)
class NamedCalls:
    """A header that holds the name, then the arguments as JSON.

    `header` is a regular expression with the group `name`, and `id` where the model chooses ids. `written` is the
    header as the format writes it, of `{name}` and `{index}`.
    """

    lead: str = ""
    header: str = rf"(?P<name>{TOOL_NAME})"
    written: str = "{name}"
    separator: str
    end: tuple[str, ...] = ()
    padding: str = ""
    """Written between the arguments and the end."""


@dataclass(frozen=True, kw_only=True)
class TaggedCalls:
    """A name, then one element per argument: strings as they are, other values as JSON.

    `name_stops` end a name without belonging to it. `padding` is written on both sides of a value, `between` behind the name
    and each value, and before `value`; `{key}` in `value_end` is the key. A `"` ends a name or a key that attributes
    follow; `type="string"` or `string="true"` among them says that the value is text.
    """

    lead: str = ""
    name_end: str = ""
    name_stops: tuple[str, ...] = ()
    parameter: str
    key_end: str
    value: str = ""
    value_end: str
    end: str
    between: str = ""
    padding: str = ""
    string_attributes: tuple[str, str] = ("", "")
    nested: str = ""
    """Stands before each tag of a value that is made of elements itself."""


@dataclass(frozen=True, kw_only=True)
class PythonCalls:
    """Calls as Python writes them, keyword arguments with literals, in a list where `listed`.

    Without a list only tools that are offered count: it might be any code. `suffix` may follow a name.
    """

    listed: bool = True
    suffix: str = ""


@dataclass(frozen=True, kw_only=True)
class BracedCalls:
    """`NAME{key:value,…}` behind `lead`: keys are bare, strings stand between two `quote`, other values are literals."""

    lead: str
    quote: str


@dataclass(frozen=True, kw_only=True)
class CodeCalls:
    """All of the text is code for the first of these tools that is offered, as its argument `argument`."""

    names: tuple[str, ...] = ("python", "code_interpreter", "ipython")
    argument: str = "code"


Body: TypeAlias = JsonCalls | NamedCalls | TaggedCalls | PythonCalls | BracedCalls | CodeCalls


@dataclass(frozen=True, kw_only=True)
class CallForm:
    """One way to write calls: `opener`, calls that one of `bodies` describes, `closer`.

    `call_opener` and `call_closer` stand around each call. A form without any of them is `bare`: it is read only where
    a message begins, and only for tools that are offered.
    """

    opener: str = ""
    closer: str = ""
    call_opener: str = ""
    call_closer: str = ""
    bodies: tuple[Body, ...]
    separator: str = ""
    """Written between calls, or between sections where `sectioned`."""
    padding: str = ""
    """Written inside of `opener` and `closer`."""
    sectioned: bool = False
    """Each call has a section of its own."""

    @property
    def bare(self) -> bool:
        """Whether nothing announces a call."""
        return not (self.opener or self.starts)

    @property
    def starts(self) -> tuple[str, ...]:
        """Texts beside `opener` that begin a call."""
        leads = tuple(lead for body in self.bodies if (lead := getattr(body, "lead", "")))
        return (self.call_opener,) if self.call_opener else leads


Recipient: TypeAlias = Literal["content", "reasoning", "call"]


@dataclass(frozen=True, kw_only=True)
class Channels:
    """Messages within the message, each behind a header that says whom it is for.

    A header begins with one of `openers` (and where a text begins, if `initial`) and ends with `header_end`. The first
    regular expression of `recipients` that is found in it decides; the group `name` is the tool's. `ends` end a message.
    """

    openers: tuple[str, ...]
    header_end: str
    recipients: tuple[tuple[str, Recipient], ...]
    ends: tuple[str, ...]
    initial: bool = True
    known_only: bool = False
    """A header that names no tool offered is no header."""
    written_call: str = ""
    """The header of a call as the format writes it, of `{name}`."""
    written_between: str = ""
    """What stands between calls."""
    written_thoughts: str = ""
    """The header of thoughts."""
    written_content: str = ""
    """The header of content."""


@dataclass(frozen=True, kw_only=True)
class ReasoningMarks:
    """What stands around thinking."""

    start: str
    end: str


@dataclass(frozen=True, kw_only=True)
class OutputFormat:
    """How a family of models writes thoughts, content and calls.

    `signs` are texts of which one group (all of its texts) occurs in the family's templates. `ignored` texts belong to
    the format, not to the content. A control token is shown to the reader if its text is part of one of these texts.
    """

    name: str
    signs: tuple[tuple[str, ...], ...] = ()
    calls: tuple[CallForm, ...] = ()
    channels: Channels | None = None
    reasoning: ReasoningMarks | None = None
    ignored: tuple[str, ...] = ()

    @property
    def lazy_triggers(self) -> tuple[str, ...]:
        """Texts with which a call begins, where the format has such."""
        return tuple(dict.fromkeys(text for form in self.calls for text in (form.opener, *form.starts) if text))
