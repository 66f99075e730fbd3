"""What is known of people: facts in words, each one person's (`subject`, platform:user), found by full-text search.

The search is the engine's own: FTS5 in SQLite, `tsvector` in PostgreSQL (`schema` lets both keep up by themselves).
Words of scripts that are written without spaces are looked for as they stand, two characters at a time. Every statement
names the subject: nothing here can look across people.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gateway.store.tx import Row, Tx

MOST_TERMS = 12
MOST_FACTS = 1_000
"""Of one person; beyond that the oldest that a review found go first, then the oldest."""

REVIEW = "review"

_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_SHORTEST = 3
"""Characters of a word that is searched by; shorter ones are in nearly every sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFact:
    """One fact; `source` says who kept it: the agent when asked, or a review afterwards."""

    id: int
    text: str
    source: str
    at: int


def add(tx: Tx, subject: str, text: str, *, source: str, now_ms: int) -> bool:
    """Keep a fact; False if the person's memory says so already (case aside)."""
    known = tx.row(
        "SELECT 1 AS x FROM memory WHERE subject = :subject AND LOWER(text) = LOWER(:text)",
        subject=subject,
        text=text,
    )
    if known is not None:
        return False
    tx.run(
        "INSERT INTO memory (subject, text, source, at) VALUES (:subject, :text, :source, :now)",
        subject=subject,
        text=text,
        source=source,
        now=now_ms,
    )
    tx.run(
        "DELETE FROM memory WHERE id IN (SELECT id FROM memory WHERE subject = :subject ORDER BY"
        " CASE WHEN source = 'review' THEN 1 ELSE 0 END, id DESC LIMIT 1000 OFFSET :most)",
        subject=subject,
        most=MOST_FACTS,
    )
    return True


def newest(tx: Tx, subject: str, most: int) -> list[StoredFact]:
    """The newest facts, the newest first."""
    rows = tx.rows(
        "SELECT * FROM memory WHERE subject = :subject ORDER BY id DESC LIMIT :most",
        subject=subject,
        most=most,
    )
    return [_fact(row) for row in rows]


def search(tx: Tx, subject: str, words: str, most: int) -> list[StoredFact]:
    """The facts that share words with these, the best first."""
    spaced, unspaced = terms(words)
    found: dict[int, StoredFact] = {}
    if spaced:
        rows = tx.rows(_SEARCH[tx.engine], subject=subject, query=_QUERY[tx.engine](spaced), most=most)
        found |= {row["id"]: _fact(row) for row in rows}
    for pair in unspaced:
        rows = tx.rows(
            r"SELECT * FROM memory WHERE subject = :subject AND text LIKE :holds ESCAPE '\'"
            " ORDER BY id DESC LIMIT :most",
            subject=subject,
            holds=f"%{pair}%",
            most=most,
        )
        found |= {row["id"]: _fact(row) for row in rows}
    return list(found.values())[:most]


def remove(tx: Tx, subject: str, numbers: Sequence[int]) -> int:
    """Forget facts of this person for good; returns how many there were."""
    return sum(
        tx.run("DELETE FROM memory WHERE id = :id AND subject = :subject", id=number, subject=subject)
        for number in set(numbers)
    )


def terms(words: str) -> tuple[list[str], list[str]]:
    """What to search for: whole words, and pairs of characters of scripts without spaces (pure)."""
    spaced: dict[str, None] = {}
    unspaced: dict[str, None] = {}
    for word in _WORD.findall(words.casefold()):
        if _UNSPACED.search(word):
            unspaced |= dict.fromkeys(word[at : at + 2] for at in range(max(1, len(word) - 1)))
        elif len(word) >= _SHORTEST or word.isdecimal():
            spaced[word] = None
    longest = sorted(spaced, key=len, reverse=True)[:MOST_TERMS]
    return longest, list(unspaced)[:MOST_TERMS]


def _fts5(words: Sequence[str]) -> str:
    # Quoted, so that none of them can be an operator; `*` finds the word's other endings.
    return " OR ".join(f'"{word}"*' for word in words)


def _tsquery(words: Sequence[str]) -> str:
    return " | ".join(f"{word}:*" for word in words)


_QUERY = {"sqlite": _fts5, "postgresql": _tsquery}
_SEARCH = {
    "sqlite": (
        "SELECT m.* FROM memory_words w JOIN memory m ON m.id = w.rowid"
        " WHERE memory_words MATCH :query AND m.subject = :subject ORDER BY bm25(memory_words), m.id DESC LIMIT :most"
    ),
    "postgresql": (
        "SELECT m.* FROM memory m, to_tsquery('simple', :query) AS q"
        " WHERE m.subject = :subject AND m.words @@ q ORDER BY ts_rank(m.words, q) DESC, m.id DESC LIMIT :most"
    ),
}


def _fact(row: Row) -> StoredFact:
    return StoredFact(id=row["id"], text=row["text"], source=row["source"], at=row["at"])
