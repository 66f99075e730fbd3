"""`parley grants`, `audit`, `user` and `status`, as the operator types them, asked of a running daemon."""

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from gateway.cli import app
from tests.flow.house import House
from tests.flow.test_grants import choose


async def parley(house: House, *words: str) -> Result:
    """Run the command in a thread, as another process would be beside this one."""
    file = house.folder / "operator.yaml"
    file.write_text(f"state_dir: {house.folder / 'state'}\n")
    return await asyncio.to_thread(CliRunner().invoke, app, [*words, "-c", str(file)])


@pytest.mark.req("APR-3", "APR-8", "SES-5", "AGT-7")
async def test_the_operator_lists_and_revokes_grants_and_verifies_and_exports_the_log(
    house: House, tmp_path: Path
) -> None:
    ann = house.person()
    ann.says('use count {"path": "/srv/docs/a"}')
    await choose(ann, "Always", 'path under "/srv/docs/"')
    await ann.gets("returned: run 1")
    await house.quiet()

    listed = await parley(house, "grants")
    assert 'always, only where path starts with "/srv/docs/"' in listed.stdout
    assert (await parley(house, "grants", "--revoke", "1")).exit_code == 0
    assert "Nothing is allowed beforehand." in (await parley(house, "grants")).stdout

    verified = await parley(house, "audit", "verify")
    assert (verified.exit_code, verified.stdout.split(",")[0]) == (0, "whole")
    exported = await parley(house, "audit", "export")
    rows = [json.loads(line) for line in exported.stdout.splitlines()]
    assert [(row["seq"], row["action"]) for row in rows] == [
        (1, "request.approved"),
        (2, "grant.given"),
        (3, "grant.revoked"),
    ]
    assert [row["prev_hash"] for row in rows[1:]] == [row["hash"] for row in rows[:-1]]

    await house.database.write(lambda tx: tx.run("UPDATE audit SET actor = 'x' WHERE seq = 2"))
    broken = await parley(house, "audit", "verify")
    assert broken.exit_code == 1
    assert '"seq": 2' in broken.stdout

    status = await parley(house, "status")
    assert "today scripted: 2 requests" in status.stdout
    assert "price not known" in status.stdout
    data = json.loads((await parley(house, "user", "export", "memory:1")).stdout)
    assert [row["requests"] for row in data["turn_usage"]] == [2]
