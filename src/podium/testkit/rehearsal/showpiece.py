"""A long piece of Markdown, for the eye: headings, lists, a table, code."""

from __future__ import annotations

PARTS = (
    ("What streams", "An agent does not send an answer at once. It sends it in small pieces, and whoever "
     "shows it must join them in their order, lose none of them and draw the page while it grows."),
    ("What can go wrong", "A piece may come twice. A piece may be cut in the middle of a word, of a table "
     "row or of a fence. The connection may end, and the reader then wants to go on exactly where it ended."),
    ("What you can try", "Stop this turn while it runs. Reload the page, or open a second one beside it. "
     "Both must show the same text, and neither may show a letter twice."),
    ("What it is worth", "None of this needs a model. A rehearsal shows whether the stage is built well, and "
     "it costs nothing to play it again."),
)  # fmt: skip

LIST = (
    "- a list with **bold** and *slanted* words\n- an item with `code` in it\n"
    "  - and one further in\n- the last item\n"
)
TABLE = (
    "| piece | size | arrives |\n|---|---:|---|\n| heading | 20 | first |\n"
    "| paragraph | 200 | later |\n| table | 120 | row by row |\n"
)
CODE = (
    "```python\ndef pieces(text: str) -> list[str]:\n    # every word with the space behind it\n"
    '    return [word + " " for word in text.split(" ")]\n\n\nprint(pieces("one two three"))\n```\n'
)


def _page() -> str:
    sections = "".join(
        f"## {number}. {title}\n\n{text}\n\n{extra}\n"
        for number, ((title, text), extra) in enumerate(zip(PARTS, (LIST, TABLE, CODE, LIST), strict=True), 1)
    )
    return f"# A long answer\n\n{sections}That was the whole of it.\n"


MARKDOWN = _page()
"""Some hundreds of words."""
