"""Markdown as hypothesis writes it: pieces of every construct, put together in every order."""

from hypothesis import strategies as st

WORDS = st.sampled_from(
    [
        *(
            "alpha",
            "beta",
            "x",
            "naïve",
            "东京",
            "👨‍👩‍👧‍👦",
            "e\u0301",
            "🇰🇪🇳🇵",
            "a_b_c",
            "2*3*4",
            "<b>",
            "&amp;",
        ),
        *(
            "https://example.test/a_b(c)",
            "**bold**",
            "*it*",
            "`code x`",
            "||hidden||",
            "~~gone~~",
            "**Note:**x",
        ),
        "[link words](https://example.test/?a=1)",
    ]
)
LINES = st.lists(WORDS, min_size=1, max_size=14).map(" ".join)
STARTS = st.sampled_from(
    ["", "", "", "- ", "  - ", "1. ", "7) ", "> ", "> - ", "# ", "### ", "    ", "- [ ] ", "| "]
)
FENCES = st.builds(
    lambda language, lines, tail: f"```{language}\n" + "\n".join(lines) + f"\n```{tail}",
    st.sampled_from(["", "py", "text"]),
    st.lists(st.sampled_from(["    x = 1", "", "y", "long " * 12, "\tz"]), max_size=12),
    st.sampled_from(["", "\n"]),
)
TABLES = st.builds(
    lambda rows: (
        "| name | value |\n|:--|--:|\n" + "\n".join(f"| {left} | {right} |" for left, right in rows) + "\n"
    ),
    st.lists(st.tuples(WORDS, LINES), max_size=6),
)
BLOCKS = st.one_of(
    st.builds(str.__add__, STARTS, LINES), FENCES, TABLES, st.sampled_from(["", "---", "<br>", "[a]: /b"])
)
MARKDOWN = st.lists(BLOCKS, max_size=14).map("\n".join)
CHARACTERS = st.one_of(st.sampled_from(list("*_`~|[]()<>#-+!\\:. \n\t1a&;")), st.characters())
ANY_TEXT = st.text(alphabet=CHARACTERS, max_size=300)
