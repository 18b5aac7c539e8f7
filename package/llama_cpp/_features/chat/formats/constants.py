"""Templates and tokens of formats under the names that programs import. The templates are this project's own wording."""

from __future__ import annotations


def _turns(start: str, end: str) -> str:
    """A template whose turns differ in the role's name alone."""
    opening, closing = start.split("{role}")
    return (
        "{%- for turn in messages -%}"
        f"{{{{ {opening!r} ~ turn.role ~ {closing!r} ~ turn.content ~ {end!r} }}}}"
        "{%- endfor -%}"
        f"{{%- if add_generation_prompt -%}}{{{{ {start.format(role='assistant')!r} }}}}{{%- endif -%}}"
    )


CHATML_BOS_TOKEN = "<s>"  # noqa: S105 - a token of a vocabulary
CHATML_EOS_TOKEN = "<|im_end|>"  # noqa: S105
CHATML_CHAT_TEMPLATE = _turns("<|im_start|>{role}\n", "<|im_end|>\n")

MISTRAL_INSTRUCT_BOS_TOKEN = "<s>"  # noqa: S105
MISTRAL_INSTRUCT_EOS_TOKEN = "</s>"  # noqa: S105
MISTRAL_INSTRUCT_CHAT_TEMPLATE = (
    "{{- bos_token -}}"
    "{%- for turn in messages -%}"
    "{%- if turn.role == 'user' -%}{{ '[INST] ' ~ turn.content ~ ' [/INST]' }}"
    "{%- elif turn.role == 'assistant' -%}{{ turn.content ~ eos_token }}"
    "{%- else -%}{{ raise_exception('this format has the roles user and assistant') }}{%- endif -%}"
    "{%- endfor -%}"
)
MIXTRAL_INSTRUCT_BOS_TOKEN = MISTRAL_INSTRUCT_BOS_TOKEN
MIXTRAL_INSTRUCT_EOS_TOKEN = MISTRAL_INSTRUCT_EOS_TOKEN
MIXTRAL_INSTRUCT_CHAT_TEMPLATE = MISTRAL_INSTRUCT_CHAT_TEMPLATE

LLAMA3_INSTRUCT_BOS_TOKEN = "<|begin_of_text|>"  # noqa: S105
LLAMA3_INSTRUCT_EOS_TOKEN = "<|eot_id|>"  # noqa: S105
LLAMA3_INSTRUCT_CHAT_TEMPLATE = "{{- bos_token -}}" + _turns("<|start_header_id|>{role}<|end_header_id|>\n\n", "<|eot_id|>")

LLAMA4_INSTRUCT_BOS_TOKEN = "<|begin_of_text|>"  # noqa: S105
LLAMA4_INSTRUCT_EOS_TOKEN = "<|eot|>"  # noqa: S105
LLAMA4_INSTRUCT_CHAT_TEMPLATE = "{{- bos_token -}}" + _turns("<|header_start|>{role}<|header_end|>\n\n", "<|eot|>")

GPT_OSS_BOS_TOKEN = "<|startoftext|>"  # noqa: S105
GPT_OSS_EOS_TOKEN = "<|return|>"  # noqa: S105
GPT_OSS_CHAT_TEMPLATE = (
    "{%- for turn in messages -%}"
    "{{ '<|start|>' ~ turn.role ~ ('<|channel|>final' if turn.role == 'assistant' else '') ~ '<|message|>' ~ turn.content ~ '<|end|>' }}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<|start|>assistant' }}{%- endif -%}"
)
