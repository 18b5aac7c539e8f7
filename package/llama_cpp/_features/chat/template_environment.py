"""The Jinja environment in which chat templates run: sandboxed, limited, and with what Hugging Face's templates use."""

from __future__ import annotations

import json
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn

import jinja2
from jinja2 import filters, nodes, pass_context, pass_environment
from jinja2.compiler import CodeGenerator
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment

from llama_cpp._features.chat import template_limits as limits
from llama_cpp._native.errors import LlamaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from jinja2.compiler import Frame
    from jinja2.environment import Template
    from jinja2.parser import Parser
    from jinja2.runtime import Context

KEPT_TEMPLATES = 128
"""How many compiled templates are kept."""


class ChatTemplateError(LlamaError, jinja2.TemplateError, ValueError):
    """A chat template failed, or refused a conversation by `raise_exception`."""


class GenerationTag(Extension):
    """`{% generation %}…{% endgeneration %}` marks what an assistant wrote, for training: here its content counts."""

    tags = {"generation"}  # noqa: RUF012 - a class attribute of the base

    def parse(self, parser: Parser) -> nodes.Node:
        """The body, in a scope of its own."""
        line = next(parser.stream).lineno
        return nodes.Scope(parser.parse_statements(("name:endgeneration",), drop_needle=True), lineno=line)


class LimitedCode(CodeGenerator):
    """Compiles a template so that loops, macros and the joining of texts are counted."""

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:  # noqa: N802 - jinja2's name
        """Put a step into each loop and macro, and a check around each `~`; then compile."""
        repeated: tuple[Any, ...] = (nodes.For, nodes.Macro, nodes.CallBlock)
        for kind in repeated:
            for each in node.find_all(kind):
                step = nodes.Filter(nodes.Const(None), "_step", [], [], None, None)
                each.body.insert(0, nodes.ExprStmt(step, lineno=each.lineno))
        _check_concatenations(node)
        super().visit_Template(node, frame)


def _check_concatenations(node: nodes.Node) -> None:
    for name, value in node.iter_fields():
        if isinstance(value, list):
            setattr(node, name, [_checked(each) for each in value])
        else:
            setattr(node, name, _checked(value))


def _checked(value: Any) -> Any:
    if not isinstance(value, nodes.Node):
        return value
    _check_concatenations(value)
    if isinstance(value, nodes.Concat):
        return nodes.Filter(nodes.List(value.nodes), "_joined", [], [], None, None, lineno=value.lineno)
    return value


class ChatEnvironment(ImmutableSandboxedEnvironment):
    """Jinja with the limits of `template_limits`."""

    code_generator_class = LimitedCode
    concat = staticmethod(limits.joined)
    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """An operation whose result might be large."""
        limits.check_operation(operator, left, right)
        return super().call_binop(context, operator, left, right)

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """A call: counted, and looked at when it is a method of a text."""
        limits.step()
        method = getattr(obj, "__wrapped__", obj)
        owner = getattr(method, "__self__", None)
        if isinstance(owner, str | bytes | int):
            limits.check_method(owner, getattr(method, "__name__", ""), (*args, *kwargs.values()))
        result = super().call(context, obj, *args, **kwargs)
        if isinstance(result, str):
            limits.check_text(len(result))
        return result


def raise_exception(message: str) -> NoReturn:
    """What a template calls to refuse a conversation."""
    raise ChatTemplateError(str(message))


def strftime_now(pattern: str) -> str:
    """The local time, as `pattern` says."""
    return datetime.now().strftime(pattern)  # noqa: DTZ005 - templates mean the user's own clock


def to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """`json.dumps`, without Jinja's escaping of HTML."""
    limits.check_width(indent)
    return json.dumps(limits.printable(value), ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


@pass_context
def _step(_: Context, value: Any) -> Any:
    limits.step()
    return value


def _guarded(name: str, check: Callable[[tuple[Any, ...]], None]) -> Callable[..., Any]:
    """A filter of Jinja behind a check of its arguments; those that Jinja passes itself come first and are no matter."""
    original: Any = filters.FILTERS[name]

    def guarded(*arguments: Any, **named: Any) -> Any:
        check((*arguments, *named.values()))
        return original(*arguments, **named)

    for mark in ("jinja_pass_arg", "jinja_async_variant"):
        if hasattr(original, mark):
            setattr(guarded, mark, getattr(original, mark))
    return guarded


def _widths(arguments: tuple[Any, ...]) -> None:
    limits.check_width(*arguments[1:])


def _prints(arguments: tuple[Any, ...]) -> None:
    for value in arguments:
        limits.printable(value)


def _formats(arguments: tuple[Any, ...]) -> None:
    limits.check_format(arguments[0])
    _prints(arguments)


def _replaces(arguments: tuple[Any, ...]) -> None:
    texts = [str(value) for value in arguments if isinstance(value, str)]
    if len(texts) > 2:  # noqa: PLR2004 - text, old, new
        limits.check_method(texts[0], "replace", (texts[1], texts[2]))


@pass_environment
def _join(environment: ChatEnvironment, value: Iterable[Any], d: str = "", attribute: str | int | None = None) -> str:
    step = filters.make_attrgetter(environment, attribute) if attribute is not None else None
    parts = [limits.printable(step(each) if step is not None else each) for each in value]
    limits.check_text(len(str(d)) * len(parts))
    return limits.joined(part for index, each in enumerate(parts) for part in ((str(d), each) if index else (each,)))


@pass_environment
def _sum(environment: ChatEnvironment, iterable: Iterable[Any], attribute: str | int | None = None, start: Any = 0) -> Any:
    step = filters.make_attrgetter(environment, attribute) if attribute is not None else None
    total = start
    for each in iterable:
        value = step(each) if step is not None else each
        limits.check_operation("+", total, value)
        total = total + value
    return total


def _environment() -> ChatEnvironment:
    made = ChatEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[GenerationTag, "jinja2.ext.loopcontrols"],
        finalize=limits.printable,
    )
    made.filters.update({name: _guarded(name, _widths) for name in ("batch", "center", "indent", "round", "slice", "wordwrap")})
    made.filters.update({name: _guarded(name, _prints) for name in ("pprint", "string")})
    made.filters.update(
        format=_guarded("format", _formats),
        replace=_guarded("replace", _replaces),
        join=_join,
        sum=_sum,
        tojson=to_json,
        _joined=limits.joined,
        _step=_step,
    )
    del made.globals["lipsum"]
    made.globals.update(raise_exception=raise_exception, strftime_now=strftime_now)
    return made


ENVIRONMENT = _environment()


@lru_cache(maxsize=KEPT_TEMPLATES)
def compiled(text: str) -> Template:
    """The template of `text`, compiled once. Raises `ChatTemplateError` for what is no template."""
    try:
        return ENVIRONMENT.from_string(text)
    except jinja2.TemplateSyntaxError as error:
        raise ChatTemplateError(f"the chat template cannot be read, line {error.lineno}: {error.message}") from error
    except RecursionError as error:
        raise ChatTemplateError("the chat template is nested too deeply") from error


def render(text: str, variables: dict[str, Any]) -> str:
    """What the template makes of the variables. Raises `ChatTemplateError` when it refuses, fails or costs too much."""
    template = compiled(text)
    with limits.limited():
        try:
            return template.render(variables)
        except ChatTemplateError:
            raise
        except RecursionError as error:
            raise ChatTemplateError("the chat template calls itself too deeply") from error
        except Exception as error:
            raise ChatTemplateError(f"the chat template failed: {type(error).__name__}: {error}") from error
