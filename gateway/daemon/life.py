"""Puts the gateway together, runs it, and takes it down in order.

Start: process lock, database, schema, what a dead process left, the agent's imports (in a thread), adapters.
Stop (SIGTERM, SIGINT, `/restart`, or the terminal's end): start no turn; let running ones finish for
`shutdown.drain_s`, then hand them back; send what can be sent; adapters and joined terminals off (until then what
arrives is stored); tools off; close, at most `SETTLE_S` after the drain time. Exit codes: 0, 75 restart wanted; the
command line adds 78 for bad configuration.
"""

import asyncio
import os
import secrets
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import structlog

from agent.errors import SettingsError
from agent.memory.loading import BUILTIN
from agent.ports import Who
from agent.runtime import WORKSPACES, AgentRuntime
from agent.tools.workspace import workspace_of
from gateway import sdnotify
from gateway.access import Access
from gateway.adapter import Adapter
from gateway.api import Api, PartHealth, Vitals
from gateway.cleaner import Cleaner
from gateway.clock import Clock, to_ms, utc_now
from gateway.commands import Commands
from gateway.config import Config
from gateway.control import SOCKET, ControlServer, JoinTerminal, Terminals
from gateway.daemon.facts import StoredFacts
from gateway.daemon.operator import trust_handlers
from gateway.daemon.reviewer import DRAFTS, Reviewer
from gateway.daemon.settings import (
    access_lists,
    agent_settings,
    approval_policy,
    authors,
    day_limits,
    intake_settings,
    refused_settings,
    reset_policy,
    retention,
)
from gateway.daemon.signals import end_within, on_signals
from gateway.daemon.tool_servers import memory_health, tool_health
from gateway.delivery import Delivery
from gateway.dispatcher import LocalDispatcher
from gateway.errors import StoreUnavailable
from gateway.events import EventHub
from gateway.intake import Intake
from gateway.letters import Letters
from gateway.limits import Limits
from gateway.pairing import Doorkeeper
from gateway.past_sessions import PastSessions
from gateway.pause import Pause
from gateway.redaction import Redactor
from gateway.requests import Desk
from gateway.retrying import Retrying
from gateway.session_store import Ended, SessionStore
from gateway.store import restarts, schema
from gateway.store.audit import AuditLog
from gateway.store.lanes import Head
from gateway.store.outbox import target_of
from gateway.store.sqlite import open_database
from gateway.store.tx import Store, Tx
from gateway.supervisor import Supervisor
from gateway.trust import Trust
from gateway.turn_queue import TurnQueue
from gateway.turns import FileLimits, Gatekeeper, TurnRunner, TurnSettings
from gateway.turns.afterwards import Afterwards

log = structlog.get_logger()

EXIT_OK = 0
EXIT_RESTART = 75
FLUSH_S = 5.0
SETTLE_S = 20.0
"""What a stop may take after the turns' drain time; then the process ends as it is, which loses nothing."""

TICK_S = 1.0
SWEEP_EVERY_S = 30.0

BACK = "I am back: the restart is done."

AdapterFactory = Callable[[Api], Adapter]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a daemon is started with: adapters by factory, since some of them need the `Api`.

    `operators` are platforms whose users own this machine. `leave_with`: stop when this platform's adapter has
    finished (the terminal's end). `join` makes the adapters of terminals that join by the control socket. `hang_up`
    is what SIGHUP does, after which the daemon goes on; None: SIGHUP is an orderly stop.
    """

    config: Config
    adapters: Sequence[AdapterFactory]
    operators: frozenset[str] = frozenset()
    leave_with: str | None = None
    demo_delay_s: float = 0.02
    join: JoinTerminal | None = None
    hang_up: Callable[[], None] | None = None


class Daemon:
    """One gateway; `run` is its whole life."""

    def __init__(
        self,
        plan: Plan,
        database: Store,
        *,
        clock: Clock = utc_now,
        stopping: Callable[[], None] = lambda: None,
    ) -> None:
        """`stopping` is called when a stop begins."""
        config = plan.config
        self._plan = plan
        self._db = database
        self._clock = clock
        self._stop = asyncio.Event()
        self._stopping = stopping
        self.exit_code = EXIT_OK
        redactor = Redactor(config.secrets())
        self._runtime = AgentRuntime(
            agent_settings(config, demo_delay_s=plan.demo_delay_s),
            mask=redactor.text,
            facts=StoredFacts(database=database, clock=clock),
        )
        self._hub = EventHub()
        self._queue = TurnQueue(
            per_user=config.queue.max_running_per_user, total=config.queue.max_running, clock=clock
        )
        self._dispatcher = LocalDispatcher(database, self._queue)
        self._delivery = Delivery(
            database,
            new_key=lambda: secrets.token_urlsafe(16),
            max_age_s=config.delivery.max_age_s,
            max_pieces=config.delivery.max_pieces,
            reactions=config.delivery.reactions,
            authors=authors(config),
            clock=clock,
        )
        mask = redactor.value
        key = config.audit.key
        self._audit = AuditLog(key=key.get_secret_value() if key else None, mask=mask, clock=clock)
        policy = approval_policy(config)
        escalate = config.approvals.escalate
        self._desk = Desk(
            self._delivery,
            kick=self._dispatcher.kick,
            new_token=lambda: f"pl1:{secrets.token_urlsafe(16)}",
            audit=self._audit,
            timeout_s=config.approvals.timeout_s,
            approvers=frozenset(config.approvals.approvers),
            needed=policy.needed,
            escalate_after_s=escalate.after_s if escalate.to else None,
            escalate_to=lambda: self._delivery.place(escalate.to or ""),
            clock=clock,
        )
        access = Access(
            access_lists(config),
            operators=plan.operators,
            approvers=frozenset(config.approvals.approvers),
        )
        self._doorkeeper = Doorkeeper(
            access=access,
            desk=self._desk,
            delivery=self._delivery,
            audit=self._audit,
            admins={name: lists.admins for name, lists in access_lists(config).items()},
            is_pairing=config.access.pairing,
            clock=clock,
        )
        self._pause = Pause(audit=self._audit, kick=self._dispatcher.kick, clock=clock)
        limits = Limits(*day_limits(config), clock=clock)
        retrying = Retrying(self._desk, limits=limits, kick=self._queue.kick, clock=clock)
        self._reviewer = Reviewer(
            database=database,
            runtime=self._runtime,
            every=config.memory.review_every,
            drafts=config.state_dir / DRAFTS,
            mask=mask,
            limits=limits,
            keeps_facts=config.memory.provider == BUILTIN,
            clock=clock,
        )
        sessions = SessionStore(reset_policy(config.sessions), ended=self._session_ended)
        settings = intake_settings(config)
        self._intake = Intake(
            database=database,
            access=access,
            sessions=sessions,
            commands=Commands(
                sessions=sessions,
                desk=self._desk,
                delivery=self._delivery,
                queue=self._queue,
                dispatcher=self._dispatcher,
                tools_status=self._tools_status,
                restart=self._restart,
                audit=self._audit,
                pause=self._pause,
                limits=limits,
                retrying=retrying,
                past=PastSessions(self._desk, clock=clock),
                lane_size=settings.lane_size,
                clock=clock,
            ),
            desk=self._desk,
            doorkeeper=self._doorkeeper,
            delivery=self._delivery,
            dispatcher=self._dispatcher,
            limits=limits,
            pause=self._pause,
            settings=settings,
            clock=clock,
        )
        self._runner = TurnRunner(
            database=database,
            delivery=self._delivery,
            desk=self._desk,
            hub=self._hub,
            snapshots=self._runtime,
            gate=Gatekeeper(
                database=database, policy=policy, audit=self._audit, is_admin=access.is_admin, clock=clock
            ).gate,
            limits=limits,
            retrying=retrying,
            settings=TurnSettings(timeout_s=config.turns.timeout_s, attempts=config.turns.attempts),
            mask=mask,
            card_mask=redactor.for_decision,
            agents=frozenset(config.agents),
            why_cut=self._queue.why_cut,
            afterwards=Afterwards(memory=self._runtime.memory, wake=self._reviewer.wake),
            node=f"{os.getpid()}-{secrets.token_hex(4)}",
            results=config.state_dir / "results",
            files=FileLimits(max_bytes=config.files.max_bytes, max_chars=config.files.max_chars),
            clock=clock,
        )
        self.trust = Trust(
            database,
            desk=self._desk,
            doorkeeper=self._doorkeeper,
            audit_log=self._audit,
            audit_key=key.get_secret_value() if key else None,
            kick=self._dispatcher.kick,
            results=config.state_dir / "results",
            workspace=partial(workspace_of, config.state_dir / WORKSPACES),
            clock=clock,
        )
        self._cleaner = Cleaner(
            database, retention(config), results=config.state_dir / "results", clock=clock
        )
        self.api = Api(
            database, self._hub, self._delivery, scope=settings.scope, vitals=self._vitals, clock=clock
        )
        adapters = [make(self.api) for make in plan.adapters]
        for adapter in adapters:
            self._delivery.register(adapter)
        self._supervisor = Supervisor(
            adapters, intake=self._intake, delivery=self._delivery, finished=self._adapter_finished
        )
        own = frozenset(adapter.account for adapter in adapters if adapter.platform in plan.operators)
        self.control = ControlServer(
            config.state_dir / SOCKET,
            api=self.api,
            intake=self._intake,
            delivery=self._delivery,
            operations=Letters(database, self._delivery),
            more=trust_handlers(self.trust),
            terminals=Terminals(plan.join, taken=own) if plan.join is not None else None,
        )

    def stop(self) -> None:
        """Ask for an orderly stop."""
        self._stop.set()

    def _restart(self) -> None:
        self.exit_code = EXIT_RESTART
        self._stop.set()

    async def run(self) -> int:
        """Serve until asked to stop; returns the exit code.

        Raises:
            AccountInUse: other processes serve all its accounts.
            StoreUnavailable: the database fails at the start.
        """
        with self._supervisor.seated():
            return await self._serve()

    async def _serve(self) -> int:
        await self._delivery.recover()
        await self._db.write(self._audit.begin_signing)
        await self._db.write(self._doorkeeper.load)
        await self._db.write(self._pause.load)
        await self._intake.load()
        await self._db.write(self._tell_back)
        open_lanes = await self._dispatcher.sweep()  # they wait until the gate opens
        async with asyncio.TaskGroup() as group:
            self._delivery.bind(group)
            background = [
                group.create_task(self._runtime.run(), name="agent"),
                group.create_task(self._open_gate(group), name="gate"),
                group.create_task(self._reviewer.run(), name="reviewer"),
                group.create_task(self._tick(), name="ticker"),
                group.create_task(self._cleaner.run(), name="cleaner"),
                group.create_task(_feed_watchdog(), name="watchdog"),
            ]
            doors = [
                group.create_task(self._supervisor.run(), name="supervisor"),
                group.create_task(self.control.run(), name="control"),
            ]
            sdnotify.notify("READY=1")
            log.info("daemon.started", open_lanes=open_lanes)
            await self._stop.wait()
            await self._shut_down(doors, background)
        return self.exit_code

    def _tell_back(self, tx: Tx) -> None:
        for dest in restarts.take(tx):
            self._delivery.post_notice(tx, target_of(dest), BACK)

    async def _open_gate(self, group: asyncio.TaskGroup) -> None:
        # Not before the agent can chat: a turn that is killed while libraries load has not been tried.
        while not await self._runtime.ready(60):
            log.warning("agent.slow_to_start")
        self._queue.bind(group, self._drain)
        log.info("daemon.serving")

    async def _drain(self, lane_id: int) -> Head | None:
        # What is not begun now stays as it is stored; the end of the pause kicks it again.
        return None if self._pause.is_on else await self._runner.drain(lane_id)

    async def _shut_down(
        self, doors: "list[asyncio.Task[None]]", background: "list[asyncio.Task[None]]"
    ) -> None:
        self._stopping()
        sdnotify.notify("STOPPING=1")
        log.info("daemon.stopping", running=self._queue.running)
        await self._queue.close(self._plan.config.shutdown.drain_s)
        await self._delivery.close(FLUSH_S)
        for door in doors:
            await _cancel(door)
        await self._runtime.aclose()
        await asyncio.wait(background[:1], timeout=10)
        for task in background:
            await _cancel(task)
        log.info("daemon.stopped")

    async def _tick(self) -> None:
        """Timers of the store: expiry every second, the sweep for lost kicks every half minute."""
        ticks = 0
        while True:
            await asyncio.sleep(TICK_S)
            ticks += 1
            try:
                await self._db.write(self._settle_overdue)
                if ticks % int(SWEEP_EVERY_S / TICK_S) == 0:
                    await self._dispatcher.sweep()
            except Exception:
                # The disk may be full or away for a while: the next tick tries again.
                log.exception("daemon.tick_failed")

    def _settle_overdue(self, tx: Tx) -> None:
        self._desk.expire(tx)
        self._desk.escalate(tx)

    def _session_ended(self, ended: Ended) -> None:
        self._runtime.memory.session_ended(
            Who(user=ended.subject, session_id=ended.session_id, platform=ended.platform)
        )

    def _adapter_finished(self, adapter: Adapter) -> None:
        if adapter.platform == self._plan.leave_with:
            self._stop.set()

    def _tools_status(self) -> list[str]:
        vitals = self._vitals()
        adapters = [f"{part.name}: {part.trouble or 'online'}" for part in vitals.adapters]
        tools = [f"Tools of {part.name}: {part.trouble or part.detail}" for part in vitals.tools]
        memory = [f"Memory {part.name}: {part.trouble}" for part in vitals.memory if part.trouble]
        return [*adapters, *tools, *memory]

    def _vitals(self) -> Vitals:
        return Vitals(
            adapters=tuple(
                PartHealth(name=name, trouble=health.trouble)
                for name, health in self._supervisor.health.items()
            ),
            tools=tuple(tool_health(state) for state in self._runtime.status()),
            memory=tuple(memory_health(state) for state in self._runtime.memory.states),
            running=self._queue.running,
            waiting=self._queue.waiting,
            stopping=self._stop.is_set(),
        )


async def run_daemon(plan: Plan) -> int:
    """Open the state directory, serve, and leave it in order; returns the exit code.

    Raises:
        StateInUse: another process has the state directory.
        AccountInUse: other processes serve all accounts.
        StoreUnavailable: it cannot be opened or written.
    """
    folder = plan.config.state_dir
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StoreUnavailable(
            f"{folder}: cannot be made ({error.strerror}); name another state_dir"
        ) from None
    database = await open_database(folder / "parley.db")
    bounds: list[threading.Timer] = []
    try:
        await database.write(lambda tx: schema.migrate(tx, to_ms(utc_now())))
        try:
            daemon = Daemon(plan, database, stopping=lambda: bounds.append(_bound(plan, daemon)))
        except SettingsError as error:
            raise refused_settings(error) from None
        on_signals(
            stop=daemon.stop,
            hang_up=plan.hang_up or daemon.stop,
            last_resort=daemon.control.remove_socket,
        )
        return await daemon.run()
    finally:
        await database.close()
        for bound in bounds:
            bound.cancel()


def _bound(plan: Plan, daemon: Daemon) -> threading.Timer:
    return end_within(
        plan.config.shutdown.drain_s + SETTLE_S, lambda: daemon.exit_code, daemon.control.remove_socket
    )


async def _feed_watchdog() -> None:
    """Tell systemd that the event loop turns, for as long as it waits for that."""
    every_s = sdnotify.watchdog_s()
    while every_s is not None:
        sdnotify.notify("WATCHDOG=1")
        await asyncio.sleep(every_s)


async def _cancel(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait([task], timeout=5)
