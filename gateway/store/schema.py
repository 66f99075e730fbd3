"""The tables, as numbered migrations that only go forward.

Times are UTC milliseconds, ids 64-bit. The names are the same in SQLite and PostgreSQL; `{int}` and `{serial}`
are the only words that differ (`Tx.type_words`). `docs/architecture.md` says what each table is for.
"""

from collections.abc import Mapping

from gateway.errors import StoreUnavailable
from gateway.store.tx import Engine, Tx

_FIRST = """
CREATE TABLE inbox (
    platform TEXT NOT NULL, account TEXT NOT NULL, update_key TEXT NOT NULL,
    received_at {int} NOT NULL, became TEXT NOT NULL, turn_id {int}, place TEXT, message_id TEXT,
    PRIMARY KEY (platform, account, update_key)
);
CREATE UNIQUE INDEX inbox_messages ON inbox (platform, account, place, message_id) WHERE message_id IS NOT NULL;
CREATE INDEX inbox_age ON inbox (received_at);
CREATE TABLE lanes (
    id {serial}, key TEXT NOT NULL UNIQUE, session_id {int},
    platform TEXT NOT NULL, account TEXT NOT NULL, chat_id TEXT NOT NULL, thread_id TEXT,
    next_seq {int} NOT NULL DEFAULT 1, active {int} NOT NULL DEFAULT 0, was_active {int} NOT NULL DEFAULT 0,
    epoch {int} NOT NULL DEFAULT 0, owner TEXT, full_told TEXT NOT NULL DEFAULT '[]', updated_at {int} NOT NULL
);
CREATE INDEX lanes_active ON lanes (id) WHERE active = 1;
CREATE TABLE sessions (
    id {serial}, lane_id {int} NOT NULL REFERENCES lanes (id), title TEXT, answerer TEXT,
    started_at {int} NOT NULL, last_active_at {int} NOT NULL, ended_at {int}, end_reason TEXT
);
CREATE INDEX sessions_lane ON sessions (lane_id, id);
CREATE TABLE turns (
    id {serial}, lane_id {int} NOT NULL REFERENCES lanes (id), session_id {int} NOT NULL REFERENCES sessions (id),
    seq {int} NOT NULL, requester TEXT NOT NULL, agent TEXT NOT NULL, kind TEXT NOT NULL,
    state TEXT NOT NULL, input TEXT NOT NULL, message_id TEXT,
    attempt {int} NOT NULL DEFAULT 0, progress {int} NOT NULL DEFAULT 0, epoch {int} NOT NULL DEFAULT 0,
    stop TEXT, created_at {int} NOT NULL, ready_at {int}, started_at {int}, finished_at {int},
    ran_ms {int} NOT NULL DEFAULT 0, error TEXT, failure TEXT, kept_from {int}, retried_as {int},
    gathers TEXT, steers {int} NOT NULL DEFAULT 0, newer TEXT, merged_into {int}, pruned_at {int},
    UNIQUE (lane_id, seq)
);
CREATE INDEX turns_open ON turns (lane_id, seq) WHERE state IN ('queued', 'running', 'waiting', 'ready');
CREATE INDEX turns_busy ON turns (requester) WHERE state IN ('queued', 'running', 'ready');
CREATE INDEX turns_requester ON turns (requester, id);
CREATE INDEX turns_kept ON turns (finished_at) WHERE pruned_at IS NULL AND finished_at IS NOT NULL;
CREATE TABLE turn_messages (
    platform TEXT NOT NULL, account TEXT NOT NULL, chat_id TEXT NOT NULL, message_id TEXT NOT NULL,
    turn_id {int} NOT NULL REFERENCES turns (id), line_id {int} NOT NULL,
    PRIMARY KEY (platform, account, chat_id, message_id)
);
CREATE INDEX turn_messages_turn ON turn_messages (turn_id);
CREATE TABLE turn_events (
    turn_id {int} NOT NULL REFERENCES turns (id), idx {int} NOT NULL, epoch {int} NOT NULL,
    kind TEXT NOT NULL, payload TEXT NOT NULL, at {int} NOT NULL,
    PRIMARY KEY (turn_id, idx)
);
CREATE TABLE messages (
    id {serial}, session_id {int} NOT NULL REFERENCES sessions (id), turn_id {int} NOT NULL,
    role TEXT NOT NULL, author TEXT NOT NULL, body TEXT NOT NULL, question_id {int}, at {int} NOT NULL
);
CREATE INDEX messages_session ON messages (session_id, id);
CREATE INDEX messages_turn ON messages (turn_id);
CREATE TABLE agent_state (
    session_id {int} NOT NULL REFERENCES sessions (id), agent TEXT NOT NULL, seq {int} NOT NULL,
    turn_id {int} NOT NULL, message TEXT NOT NULL, mixed {int} NOT NULL DEFAULT 0,
    PRIMARY KEY (session_id, agent, seq)
);
CREATE TABLE tasks (
    session_id {int} NOT NULL REFERENCES sessions (id), seq {int} NOT NULL, agent TEXT NOT NULL,
    goal TEXT NOT NULL, upstream TEXT NOT NULL, back_to TEXT NOT NULL, state TEXT NOT NULL,
    turn_id {int} NOT NULL, at {int} NOT NULL,
    PRIMARY KEY (session_id, seq)
);
CREATE TABLE task_ends (
    session_id {int} NOT NULL REFERENCES sessions (id), seq {int} NOT NULL, agent TEXT NOT NULL,
    summary TEXT NOT NULL, depth {int} NOT NULL, put_off {int} NOT NULL, place {int} NOT NULL, state TEXT NOT NULL,
    turn_id {int} NOT NULL, at {int} NOT NULL,
    PRIMARY KEY (session_id, seq)
);
CREATE TABLE requests (
    id {serial}, turn_id {int} REFERENCES turns (id), lane_id {int}, call_id TEXT NOT NULL,
    kind TEXT NOT NULL, n {int} NOT NULL DEFAULT 0, state TEXT NOT NULL, requester TEXT NOT NULL,
    args_hash TEXT NOT NULL, tool_hash TEXT NOT NULL DEFAULT '', prompt TEXT NOT NULL,
    created_at {int} NOT NULL, expires_at {int},
    needed {int} NOT NULL DEFAULT 1, escalated_at {int},
    decided_by TEXT, decider TEXT, decided_at {int}, reason TEXT, answer TEXT,
    UNIQUE (turn_id, call_id, kind, n)
);
CREATE INDEX requests_due ON requests (expires_at) WHERE state = 'pending';
CREATE INDEX requests_lane ON requests (lane_id) WHERE state = 'pending';
CREATE TABLE buttons (
    token TEXT PRIMARY KEY, request_id {int} NOT NULL REFERENCES requests (id), choice TEXT NOT NULL
);
CREATE INDEX buttons_request ON buttons (request_id);
CREATE TABLE votes (
    request_id {int} NOT NULL REFERENCES requests (id), voter TEXT NOT NULL, name TEXT NOT NULL, at {int} NOT NULL,
    PRIMARY KEY (request_id, voter)
);
CREATE TABLE grants (
    id {serial}, scope TEXT NOT NULL, subject TEXT NOT NULL, server TEXT NOT NULL, tool TEXT NOT NULL,
    pattern TEXT, granted_by TEXT NOT NULL, granted_at {int} NOT NULL, expires_at {int}, revoked_at {int},
    session_id {int}, request_id {int}
);
CREATE INDEX grants_subject ON grants (scope, subject);
CREATE TABLE destinations (
    dest TEXT PRIMARY KEY, platform TEXT NOT NULL, account TEXT NOT NULL,
    next_seq {int} NOT NULL DEFAULT 1, paused_until {int} NOT NULL DEFAULT 0, paused_at {int} NOT NULL DEFAULT 0,
    gone TEXT, moved_to TEXT
);
CREATE TABLE outbox (
    id {serial}, dest TEXT NOT NULL REFERENCES destinations (dest), dest_seq {int} NOT NULL, turn_id {int},
    part TEXT, kind TEXT NOT NULL, payload TEXT NOT NULL, preview TEXT, idem_key TEXT NOT NULL UNIQUE,
    request_id {int}, edits {int}, state TEXT NOT NULL, epoch {int} NOT NULL DEFAULT 0,
    attempts {int} NOT NULL DEFAULT 0, next_at {int} NOT NULL DEFAULT 0, tried_at {int},
    unsure_since {int}, platform_msg_id TEXT, error TEXT, created_at {int} NOT NULL, settled_at {int},
    UNIQUE (dest, dest_seq), UNIQUE (turn_id, part)
);
CREATE INDEX outbox_open ON outbox (dest, dest_seq) WHERE state IN ('queued', 'sending');
CREATE INDEX outbox_unknown ON outbox (dest) WHERE state = 'unknown';
CREATE INDEX outbox_request ON outbox (request_id) WHERE request_id IS NOT NULL;
CREATE INDEX outbox_cards ON outbox (dest, platform_msg_id) WHERE request_id IS NOT NULL AND kind = 'card';
CREATE INDEX outbox_settled ON outbox (settled_at) WHERE state IN ('sent', 'failed', 'unknown');
CREATE INDEX outbox_edits ON outbox (edits) WHERE edits IS NOT NULL;
CREATE TABLE leases (name TEXT PRIMARY KEY, owner TEXT NOT NULL, epoch {int} NOT NULL, until {int} NOT NULL);
CREATE TABLE nodes (id TEXT PRIMARY KEY, started_at {int} NOT NULL, seen_at {int} NOT NULL, version TEXT NOT NULL);
CREATE TABLE memory (
    id {serial}, subject TEXT NOT NULL, text TEXT NOT NULL, source TEXT, at {int} NOT NULL
);
CREATE INDEX memory_subject ON memory (subject, id);
CREATE TABLE memory_baselines (
    subject TEXT PRIMARY KEY, extract_from {int} NOT NULL, read_to {int} NOT NULL DEFAULT 0
);
CREATE TABLE review_counts (
    kind TEXT NOT NULL, subject TEXT NOT NULL, agent TEXT NOT NULL, n {int} NOT NULL,
    PRIMARY KEY (kind, subject)
);
CREATE TABLE pairings (
    platform TEXT NOT NULL, account TEXT NOT NULL, user_id TEXT NOT NULL, state TEXT NOT NULL,
    code_hash TEXT, tries {int} NOT NULL DEFAULT 0, told_at {int}, expires_at {int}, decided_by TEXT,
    chat_id TEXT, thread_id TEXT,
    PRIMARY KEY (platform, account, user_id)
);
CREATE TABLE schedules (
    name TEXT PRIMARY KEY, spec TEXT NOT NULL, last_run_at {int}, next_run_at {int}, paused {int} NOT NULL DEFAULT 0
);
CREATE TABLE restarts (dest TEXT PRIMARY KEY, asked_at {int} NOT NULL);
CREATE TABLE audit (
    seq {int} NOT NULL PRIMARY KEY, at {int} NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL,
    target TEXT NOT NULL, detail TEXT NOT NULL, salt TEXT, body_hash TEXT NOT NULL,
    prev_hash TEXT NOT NULL, hash TEXT NOT NULL
);
CREATE TABLE audit_head (one {int} NOT NULL PRIMARY KEY, seq {int} NOT NULL, hash TEXT NOT NULL);
INSERT INTO audit_head (one, seq, hash) VALUES (1, 0, '');
CREATE TABLE usage (
    day TEXT NOT NULL, subject TEXT NOT NULL,
    messages {int} NOT NULL DEFAULT 0, tokens {int} NOT NULL DEFAULT 0,
    usd_micros {int} NOT NULL DEFAULT 0, unpriced {int} NOT NULL DEFAULT 0,
    PRIMARY KEY (day, subject)
);
CREATE TABLE turn_usage (
    turn_id {int} NOT NULL REFERENCES turns (id), model TEXT NOT NULL, requests {int} NOT NULL,
    input_tokens {int} NOT NULL, output_tokens {int} NOT NULL, cached_tokens {int} NOT NULL,
    usd_micros {int}, at {int} NOT NULL,
    PRIMARY KEY (turn_id, model)
);
CREATE INDEX turn_usage_age ON turn_usage (at);
CREATE TABLE switches (name TEXT PRIMARY KEY, set_by TEXT NOT NULL, set_at {int} NOT NULL);
CREATE TABLE told (
    topic TEXT NOT NULL, subject TEXT NOT NULL, at {int} NOT NULL, PRIMARY KEY (topic, subject)
);
"""

MIGRATIONS: tuple[str, ...] = (_FIRST,)

# Full-text search has no common SQL. Both keep up with `memory` by themselves, whoever changes it.
_SEARCH: Mapping[Engine, str] = {
    "sqlite": """
CREATE VIRTUAL TABLE memory_words USING fts5(
    text, content='memory', content_rowid='id', tokenize='unicode61 remove_diacritics 2'
)
--
CREATE TRIGGER memory_added AFTER INSERT ON memory BEGIN
    INSERT INTO memory_words (rowid, text) VALUES (new.id, new.text);
END
--
CREATE TRIGGER memory_removed AFTER DELETE ON memory BEGIN
    INSERT INTO memory_words (memory_words, rowid, text) VALUES ('delete', old.id, old.text);
END
""",
    "postgresql": """
ALTER TABLE memory ADD COLUMN words tsvector GENERATED ALWAYS AS (to_tsvector('simple', text)) STORED
--
CREATE INDEX memory_words ON memory USING GIN (words)
""",
}


def migrate(tx: Tx, now_ms: int) -> int:
    """Bring the schema to this release's version in one transaction; returns that version.

    Raises:
        StoreUnavailable: the database was written by a newer release.
    """
    tx.run(
        "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY, applied_at BIGINT NOT NULL)"
    )
    found = tx.row("SELECT COALESCE(MAX(version), 0) AS version FROM schema_version")
    version = int(found["version"]) if found else 0
    if version > len(MIGRATIONS):
        raise StoreUnavailable(
            f"the database has schema {version}, this release knows {len(MIGRATIONS)}: install a newer release"
        )
    for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
        for statement in script.format(**tx.type_words).split(";"):
            if statement.strip():
                tx.run(statement)
        if number == 1:
            for statement in _SEARCH[tx.engine].split("--\n"):
                tx.run(statement)
        tx.run(
            "INSERT INTO schema_version (version, applied_at) VALUES (:version, :now)",
            version=number,
            now=now_ms,
        )
    return len(MIGRATIONS)
