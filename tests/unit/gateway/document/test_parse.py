"""Markdown to documents: what CommonMark says, and where models write otherwise."""

import pytest
from hypothesis import given, settings

from gateway.document import (
    Code,
    Document,
    Item,
    List,
    Paragraph,
    Quote,
    Span,
    Table,
    parse,
    parse_located,
    plain,
)
from gateway.document.build import literal
from tests.cases import GITHUB_TABLES, commonmark_examples
from tests.cases.markdown_strategies import ANY_TEXT, MARKDOWN

pytestmark = pytest.mark.req("DLV-4")


def spans(markdown: str) -> list[tuple[str, str]]:
    """Return the spans of one paragraph as (text, marks and link in words)."""
    (block,) = parse(markdown).blocks
    assert isinstance(block, Paragraph)
    return [
        (span.text, " ".join([*sorted(span.marks), *([span.link] if span.link else [])]))
        for span in block.spans
    ]


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("2*3*4 and a*b*c", [("2*3*4 and a*b*c", "")]),
        ("x**2 + y**2 and 2**3**4", [("x**2 + y**2 and 2**3**4", "")]),
        ("(a)**2 + (b)**2", [("(a)**2 + (b)**2", "")]),
        ("**Note:**text", [("Note:", "bold"), ("text", "")]),
        ("**Disk:**91%", [("Disk:", "bold"), ("91%", "")]),
        ("**重要：**请看", [("重要：", "bold"), ("请看", "")]),
        ("是**“重点”**的", [("是", ""), ("“重点”", "bold"), ("的", "")]),
        ("用**`code`**来", [("用", ""), ("code", "bold code"), ("来", "")]),
        ("**[a](u)**text", [("a", "bold u"), ("text", "")]),
        ('a "**b**" c', [('a "', ""), ("b", "bold"), ('" c', "")]),
        (
            "un**believ**able *fan* x",
            [("un", ""), ("believ", "bold"), ("able ", ""), ("fan", "italic"), (" x", "")],
        ),
        ("5~10 and 20~30", [("5~10 and 20~30", "")]),
        ("~~gone~~", [("gone", "strike")]),
        ("||hidden **b**||", [("hidden ", "spoiler"), ("b", "bold spoiler")]),
        ("a || b || c and a||b||c", [("a || b || c and a||b||c", "")]),
        (r"\|\|open\|\| and \*x\*", [("||open|| and *x*", "")]),
        ("`||x||` and `\\|`", [("||x||", "code"), (" and ", ""), ("\\|", "code")]),
        ("<b>x</b> & <draft> &amp; <!channel>", [("<b>x</b> & <draft> & <!channel>", "")]),
        ("<u>un</u>der<br>line", [("un", "underline"), ("der\nline", "")]),
        ("a <u>b", [("a <u>b", "")]),
        ("https://e.test/a_b_c/__init__.py", [("https://e.test/a_b_c/__init__.py", "")]),
        ("**https://e.test/a*b*c**.", [("https://e.test/a*b*c", "bold"), (".", "")]),
        ("<https://e.test/a_b>", [("https://e.test/a_b", "https://e.test/a_b")]),
        ("<me@e.test>", [("me@e.test", "mailto:me@e.test")]),
        ("[map](https://e.test/q?a=1&b=(x)_y#z-1)", [("map", "https://e.test/q?a=1&b=(x)_y#z-1")]),
        ("[](https://e.test)", [("https://e.test", "https://e.test")]),
        ("![](https://e.test/i.png)", [("i.png", "https://e.test/i.png")]),
        ("[^1]: word", [("[^1]: word", "")]),
        ("[1]: https://e.test", [("[1]: https://e.test", "")]),
        ("see [A  b]\n\n[a b]: https://e.test", [("see ", ""), ("A  b", "https://e.test")]),
        ("soft\nbreak  \nhard\\\nend", [("soft\nbreak\nhard\nend", "")]),
        ("MIN_POOL_SIZE and _it_", [("MIN_POOL_SIZE and ", ""), ("it", "italic")]),
    ],
)
def test_inline_text_is_read_as_models_mean_it(markdown: str, shown: list[tuple[str, str]]) -> None:
    assert spans(markdown) == shown


def text(value: str) -> tuple[Paragraph]:
    return (Paragraph(spans=(Span(text=value),)),)


def test_blocks_nest_as_written() -> None:
    assert parse("> - [x] done\n> - open\n>   1. three\n>   2. four").blocks == (
        Quote(
            blocks=(
                List(
                    items=(
                        Item(blocks=text("done"), task=True),
                        Item(
                            blocks=(
                                *text("open"),
                                List(
                                    items=(Item(blocks=text("three")), Item(blocks=text("four"))),
                                    ordered=True,
                                ),
                            )
                        ),
                    )
                ),
            )
        ),
    )


def test_a_loose_list_is_told_from_a_tight_one() -> None:
    (tight,) = parse("- a\n- b").blocks
    (loose,) = parse("- a\n\n- b").blocks
    assert isinstance(tight, List)
    assert isinstance(loose, List)
    assert (tight.loose, loose.loose) == (False, True)


def test_code_is_kept_as_written_with_its_language() -> None:
    assert parse("```py title=x\n\tif a*b*c < 2:\n\n    `||`\n```").blocks == (
        Code(text="\tif a*b*c < 2:\n\n    `||`", language="py"),
    )


def test_a_table_has_cells_of_spans() -> None:
    assert parse("| a | b |\n|:-:|--:|\n| `x\\|y` | c<br>d |").blocks == (
        Table(
            head=((Span(text="a"),), (Span(text="b"),)),
            rows=(((Span(text="x|y", marks=frozenset({"code"})),), (Span(text="c\nd"),)),),
            align=("center", "right"),
        ),
    )


@pytest.mark.parametrize(
    "nested", ["> " * 10_000 + "x", "- " * 10_000 + "x", "[" * 10_000 + "x" + "]" * 10_000]
)
def test_deep_nesting_is_shown_at_a_depth_a_reader_can_follow(nested: str) -> None:
    assert "x" in plain(parse(nested))


@settings(max_examples=150, deadline=None)
@given(MARKDOWN)
def test_locating_changes_nothing_of_any_markdown(markdown: str) -> None:
    check_positions(markdown)


@settings(max_examples=150, deadline=None)
@given(ANY_TEXT)
def test_locating_changes_nothing_of_any_text(markdown: str) -> None:
    check_positions(markdown)


def test_locating_changes_nothing_of_the_specification() -> None:
    for example in (*commonmark_examples(), *GITHUB_TABLES):
        check_positions(example)


def check_positions(markdown: str) -> None:
    document, where = parse_located(markdown)
    assert document == parse(markdown)
    begins = [positions[0][1] for positions in where.leaves]
    assert begins == sorted(begins)
    assert all(0 <= begin <= where.end == len(literal(markdown)) for begin in begins)
    for leaf, positions in enumerate(where.leaves):
        offsets, sources = zip(*positions, strict=True)
        assert list(sources) == sorted(sources)
        assert list(offsets) == sorted(offsets)
        assert where.text_offset(where.source_offset(leaf, 0))[0] >= leaf


def test_a_stand_in_is_never_taken_from_what_the_text_uses() -> None:
    used = "".join(chr(plane << 16 | 0x2A) for plane in range(4, 14))
    assert plain(parse(f"2*3*4 {used[:3]}")) == f"2*3*4 {used[:3]}"
    assert plain(parse(used)) == used


def test_a_reference_to_a_control_character_makes_none() -> None:
    assert plain(parse("a&#27;[31m&#0;b&#x9b;c &#233;")) == "a\ufffd[31m\ufffdb\ufffdc é"
    assert spans("[a](&#27;x)") == [("a", "\ufffdx")]


def test_no_text_is_refused() -> None:
    assert plain(parse("\ud800 \x00 \r\n a\u2028b")) == "\ufffd \ufffd\na\nb"
    assert parse("") == Document()
