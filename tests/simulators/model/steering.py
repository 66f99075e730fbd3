"""What the model answers when nothing is scripted: the user's message steers it.

Lines of the newest user message (a speaker's name before it, as in `Ada: call …`, is overlooked):

- `call NAME {json}`: calls the tool; several such lines are parallel calls. NAME may lack the server's prefix
  (`echo` finds `demo__echo`). Text that is not valid JSON is sent as it is.
- `then`: what follows is for the next round, after the results of the calls before.
- `say TEXT`: answers exactly the rest of the message, further lines included.
- `long N`: answers N characters of mixed Markdown, ending in a bold "end".
- `think TEXT`: thinks TEXT first.
- `slow S`: waits S seconds between deltas.
- `fail STATUS [TIMES]`: refuses the request with this status, the first TIMES times (always, without).
- `cut [N]`: breaks the connection after N deltas (1).
- `hang`: never answers.
- `empty`: answers nothing.

Without any of these it answers `echo: ` and the message; after tool results, `tool said: ` and the results.
"""

import re
from collections import Counter
from dataclasses import replace

from ..faults import Hold, Refuse
from .answers import Answer, Scripted, ToolCall
from .asked import Asked
from .prose import mixed_markdown

_ORDER = re.compile(r"(?:[^\n:]{1,64}: )?(call|say|long|think|slow|fail|cut|hang|empty)\b[ ]?(.*)", re.DOTALL)


class Steering:
    """Answers by the user's orders; remembers only how often a `fail` was obeyed."""

    def __init__(self) -> None:
        self._failed: Counter[str] = Counter()

    def answer(self, asked: Asked) -> Scripted:
        """Decide on the reply to a request."""
        text = asked.last_user_text
        parts = re.split(r"\n[ ]*then[ ]*\n", text)
        if asked.rounds < len(parts) and (obeyed := self._obey(parts[asked.rounds], asked)):
            return obeyed
        if asked.tool_results:
            return Answer(text="tool said: " + "; ".join(asked.tool_results))
        return Answer(text=f"echo: {text}")

    def _obey(self, part: str, asked: Asked) -> Scripted | None:
        """The reply that the orders in a part of the message ask for; None without orders."""
        answer, words = Answer(), set()
        lines = part.split("\n")
        for place, line in enumerate(lines):
            order = _ORDER.fullmatch(line)
            if order is None:
                continue
            word, rest = order.groups()
            match word:
                case "hang":
                    return Hold(name="hang")
                case "say":
                    return replace(answer, text="\n".join([rest, *lines[place + 1 :]]))
                case "fail":
                    if fault := self._fail(rest, part):
                        return fault
                case _:
                    words.add(word)
                    answer = _add(answer, word, rest, asked)
        if not words:
            return None
        is_blank = not answer.text and not answer.calls and "empty" not in words
        return replace(answer, text=f"echo: {part}") if is_blank else answer

    def _fail(self, rest: str, part: str) -> Refuse | None:
        status, _, times = rest.partition(" ")
        self._failed[part] += 1
        if times and self._failed[part] > int(times):
            return None
        return Refuse(
            status=int(status), text="asked to fail", retry_after_s=0.1 if status == "429" else None
        )


def _add(answer: Answer, word: str, rest: str, asked: Asked) -> Answer:
    """The answer with one more order obeyed."""
    match word:
        case "call":
            return replace(answer, calls=(*answer.calls, _call(rest, asked)))
        case "long":
            return replace(answer, text=mixed_markdown(int(rest)))
        case "think":
            return replace(answer, reasoning=rest)
        case "slow":
            return replace(answer, gap_s=float(rest))
        case "cut":
            return replace(answer, cut_after=int(rest or 1))
        case _:
            return answer


def _call(rest: str, asked: Asked) -> ToolCall:
    name, _, arguments = rest.partition(" ")
    if name not in asked.tool_names:
        name = next((known for known in asked.tool_names if known.endswith(f"__{name}")), name)
    return ToolCall(name=name, arguments=arguments.strip() or "{}")
