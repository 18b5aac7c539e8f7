"""Named prompt formats, one row each: the control texts that the models were trained on, as their makers published them."""

from __future__ import annotations

from .row import PromptFormat


def _marked(mark: str, *, roles: tuple[str, ...] = ("system", "user", "assistant", "tool")) -> dict[str, str]:
    """Turns that differ in the name of the role alone."""
    return {role: mark.replace("{role}", role) for role in roles}


_CHATML = _marked("<|im_start|>{role}\n{content}<|im_end|>\n")
_LLAMA3 = _marked("<|start_header_id|>{role}<|end_header_id|>\n\n{content}<|eot_id|>")
_LLAMA4 = _marked("<|header_start|>{role}<|header_end|>\n\n{content}<|eot|>")
_HASHED = "### {role}:\n{content}\n"

FORMATS = (
    PromptFormat(
        name="llama-2",
        turns={"user": "[INST] {content} [/INST]", "assistant": " {content} </s><s>"},
        answer="",
        system="head",
        system_text="<<SYS>>\n{content}\n<</SYS>>\n\n",
        stops=("</s>", "[INST]"),
        stripped=True,
    ),
    PromptFormat(
        name="llama-3",
        turns={**_LLAMA3, "tool": "<|start_header_id|>ipython<|end_header_id|>\n\n{content}<|eot_id|>"},
        answer="<|start_header_id|>assistant<|end_header_id|>\n\n",
        stops=("<|eot_id|>",),
        stripped=True,
    ),
    PromptFormat(
        name="llama-4",
        turns={**_LLAMA4, "tool": "<|header_start|>ipython<|header_end|>\n\n{content}<|eot|>"},
        answer="<|header_start|>assistant<|header_end|>\n\n",
        stops=("<|eot|>",),
        stripped=True,
    ),
    PromptFormat(
        name="alpaca",
        turns={
            "system": "{content}\n\n",
            "user": "### Instruction:\n{content}\n\n",
            "assistant": "### Response:\n{content}</s>",
        },
        answer="### Response:\n",
        stops=("</s>", "### Instruction:"),
    ),
    PromptFormat(name="qwen", turns=_CHATML, answer="<|im_start|>assistant\n", stops=("<|im_end|>", "<|endoftext|>")),
    PromptFormat(name="chatml", turns=_CHATML, answer="<|im_start|>assistant\n", stops=("<|im_end|>",)),
    PromptFormat(
        name="vicuna",
        turns={"system": "{content} ", "user": "USER: {content} ", "assistant": "ASSISTANT: {content}</s>"},
        answer="ASSISTANT:",
        stops=("</s>", "USER:"),
    ),
    PromptFormat(
        name="oasst_llama",
        turns={
            "system": "[INST] <<SYS>>\n{content}\n<</SYS>>\n\n",
            "user": "<|prompter|>{content}</s>",
            "assistant": "<|assistant|>{content}</s>",
        },
        answer="<|assistant|>",
        stops=("</s>",),
    ),
    PromptFormat(
        name="baichuan-2",
        turns={"system": "{content}", "user": "<reserved_106>{content}", "assistant": "<reserved_107>{content}"},
        answer="<reserved_107>",
        stops=("<reserved_106>",),
    ),
    PromptFormat(
        name="baichuan",
        turns={"system": "{content}", "user": "<reserved_102>{content}", "assistant": "<reserved_103>{content}"},
        answer="<reserved_103>",
        stops=("<reserved_102>",),
    ),
    PromptFormat(
        name="openbuddy",
        turns={"system": "{content}\n\n", "user": "User: {content}\n", "assistant": "Assistant: {content}\n"},
        answer="Assistant:",
        stops=("User:",),
    ),
    PromptFormat(
        name="redpajama-incite",
        turns={"system": "{content}\n", "user": "<human>: {content}\n", "assistant": "<bot>: {content}\n"},
        answer="<bot>:",
        stops=("<human>",),
    ),
    PromptFormat(
        name="snoozy",
        turns={
            "system": "### Instruction:\n{content}\n",
            "user": "### Prompt:\n{content}\n",
            "assistant": "### Response:\n{content}\n",
        },
        answer="### Response:\n",
        stops=("###",),
    ),
    PromptFormat(
        name="phind",
        turns={
            "system": "### System Prompt\n{content}\n\n",
            "user": "### User Message\n{content}\n\n",
            "assistant": "### Assistant\n{content}\n\n",
        },
        answer="### Assistant\n",
        stops=("### User Message",),
    ),
    PromptFormat(
        name="intel",
        turns={
            "system": _HASHED.replace("{role}", "System"),
            "user": _HASHED.replace("{role}", "User"),
            "assistant": _HASHED.replace("{role}", "Assistant"),
        },
        answer="### Assistant:\n",
        stops=("### User:",),
    ),
    PromptFormat(
        name="open-orca",
        turns={"system": "{content}\n", "user": "User: {content}<|end_of_turn|>\n", "assistant": "Assistant: {content}<|end_of_turn|>\n"},
        answer="Assistant:",
        stops=("<|end_of_turn|>", "User:"),
    ),
    PromptFormat(
        name="mistrallite",
        turns={
            "system": "<|system|>{content}</s>",
            "user": "<|prompter|>{content}</s>",
            "assistant": "<|assistant|>{content}</s>",
        },
        answer="<|assistant|>",
        stops=("</s>",),
    ),
    PromptFormat(
        name="zephyr",
        turns=_marked("<|{role}|>\n{content}</s>\n", roles=("system", "user", "assistant")),
        answer="<|assistant|>\n",
        stops=("</s>",),
    ),
    PromptFormat(
        name="pygmalion",
        turns={"system": "<|system|>{content}", "user": "<|user|>{content}", "assistant": "<|model|>{content}"},
        answer="<|model|>",
        stops=("<|user|>", "<|system|>"),
    ),
    PromptFormat(
        name="mistral-instruct",
        turns={"user": "[INST] {content} [/INST]", "assistant": " {content}</s>"},
        answer="",
        system="head",
        stops=("</s>",),
        stripped=True,
    ),
    PromptFormat(
        name="chatglm3",
        start="[gMASK]sop",
        turns={**_marked("<|{role}|>\n {content}", roles=("system", "user", "assistant")), "tool": "<|observation|>\n {content}"},
        answer="<|assistant|>",
        stops=("<|user|>", "<|observation|>"),
        stripped=True,
    ),
    PromptFormat(
        name="openchat",
        turns={
            "system": "{content}<|end_of_turn|>",
            "user": "GPT4 Correct User: {content}<|end_of_turn|>",
            "assistant": "GPT4 Correct Assistant: {content}<|end_of_turn|>",
        },
        answer="GPT4 Correct Assistant:",
        stops=("<|end_of_turn|>",),
    ),
    PromptFormat(
        name="saiga",
        turns={"system": "<s>system\n{content}</s>\n", "user": "<s>user\n{content}</s>\n", "assistant": "<s>bot\n{content}</s>\n"},
        answer="<s>bot\n",
        stops=("</s>", "<s>"),
        stripped=True,
    ),
    PromptFormat(
        name="gemma",
        turns={"user": "<start_of_turn>user\n{content}<end_of_turn>\n", "assistant": "<start_of_turn>model\n{content}<end_of_turn>\n"},
        answer="<start_of_turn>model\n",
        system="head",
        stops=("<end_of_turn>",),
        stripped=True,
    ),
)
