"""Puts the gateway together, runs it, and takes it down in order.

Start: process lock, database, schema, what a dead process left, the agent's imports (in a thread), adapters.
Stop (SIGTERM, SIGINT, or the terminal's end): start no turn; let running ones finish for `shutdown.drain_s`, then
hand them back; send what can be sent; adapters off (until then what arrives is stored); tools off; close. A
second signal ends it at once. Exit codes: 0, 75 restart wanted; the command line adds 78 for bad configuration.
"""

import asyncio
import os
import secrets
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog

from agent.errors import SettingsError
from agent.runtime import AgentRuntime
from gateway import sdnotify
from gateway.access import Access
from gateway.adapter import Adapter
from gateway.api import Api
from gateway.cleaner import Cleaner
from gateway.clock import Clock, to_ms, utc_now
from gateway.commands import Commands
from gateway.config import Config, ConfigError, Problem
from gateway.daemon.settings import (
    access_lists,
    agent_settings,
    approval_policy,
    intake_settings,
    reset_policy,
    retention,
)
from gateway.delivery import Delivery
from gateway.events import EventHub
from gateway.intake import Intake
from gateway.redaction import Redactor
from gateway.requests import Desk
from gateway.session_store import SessionStore
from gateway.store import lanes, schema
from gateway.store.sqlite import Database, open_database
from gateway.supervisor import Supervisor
from gateway.turn_queue import TurnQueue
from gateway.turns import TurnRunner, TurnSettings

log = structlog.get_logger()

EXIT_OK = 0
EXIT_RESTART = 75
FLUSH_S = 5.0
TICK_S = 1.0
SWEEP_EVERY_S = 30.0

AdapterFactory = Callable[[Api], Adapter]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a daemon is started with: adapters by factory, since some of them need the `Api`.

    `operators` are platforms whose users own this machine. `leave_with`: stop when this platform's adapter has
    finished (the terminal's end).
    """

    config: Config
    adapters: Sequence[AdapterFactory]
    operators: frozenset[str] = frozenset()
    leave_with: str | None = None
    demo_delay_s: float = 0.02


class Daemon:
    """One gateway; `run` is its whole life."""

    def __init__(self, plan: Plan, database: Database, *, clock: Clock = utc_now) -> None:
        config = plan.config
        self._plan = plan
        self._db = database
        self._clock = clock
        self._stop = asyncio.Event()
        self._runtime = AgentRuntime(agent_settings(config, demo_delay_s=plan.demo_delay_s))
        self._hub = EventHub()
        self._queue = TurnQueue(
            per_user=config.queue.max_running_per_user, total=config.queue.max_running, clock=clock
        )
        self._delivery = Delivery(
            database,
            new_key=lambda: secrets.token_urlsafe(16),
            max_age_s=config.delivery.max_age_s,
            clock=clock,
        )
        self._desk = Desk(
            self._delivery,
            kick=self._queue.kick,
            new_token=lambda: f"pl1:{secrets.token_urlsafe(16)}",
            timeout_s=config.approvals.timeout_s,
            approvers=frozenset(str(name) for name in config.approvals.approvers),
            clock=clock,
        )
        sessions = SessionStore(reset_policy(config.sessions))
        settings = intake_settings(config)
        intake = Intake(
            database=database,
            access=Access(access_lists(config), operators=plan.operators),
            sessions=sessions,
            commands=Commands(
                sessions=sessions,
                desk=self._desk,
                delivery=self._delivery,
                queue=self._queue,
                tools_status=self._tools_status,
                clock=clock,
            ),
            desk=self._desk,
            delivery=self._delivery,
            queue=self._queue,
            settings=settings,
            clock=clock,
        )
        self._runner = TurnRunner(
            database=database,
            delivery=self._delivery,
            desk=self._desk,
            hub=self._hub,
            snapshots=self._runtime,
            policy=approval_policy(config),
            settings=TurnSettings(timeout_s=config.turns.timeout_s, attempts=config.turns.attempts),
            mask=Redactor(config.secrets()).value,
            why_cut=self._queue.why_cut,
            node=f"{os.getpid()}-{secrets.token_hex(4)}",
            clock=clock,
        )
        self._cleaner = Cleaner(
            database, retention(config), results=config.state_dir / "results", clock=clock
        )
        self.api = Api(database, self._hub, self._delivery, scope=settings.scope, clock=clock)
        adapters = [make(self.api) for make in plan.adapters]
        for adapter in adapters:
            self._delivery.register(adapter)
        self._supervisor = Supervisor(
            adapters, intake=intake, delivery=self._delivery, finished=self._adapter_finished
        )

    def stop(self) -> None:
        """Ask for an orderly stop."""
        self._stop.set()

    async def run(self) -> int:
        """Serve until asked to stop; returns the exit code.

        Raises:
            StoreUnavailable: the database fails at the start.
        """
        await self._delivery.recover()
        heads = await self._db.read(lanes.runnable)
        async with asyncio.TaskGroup() as group:
            self._delivery.bind(group)
            background = [
                group.create_task(self._runtime.run(), name="agent"),
                group.create_task(self._open_gate(group), name="gate"),
                group.create_task(self._tick(), name="ticker"),
                group.create_task(self._cleaner.run(), name="cleaner"),
            ]
            adapters = group.create_task(self._supervisor.run(), name="supervisor")
            for head in heads:
                self._queue.kick(head)
            sdnotify.notify("READY=1")
            log.info("daemon.started", open_lanes=len(heads))
            await self._stop.wait()
            await self._shut_down(adapters, background)
        return EXIT_OK

    async def _open_gate(self, group: asyncio.TaskGroup) -> None:
        # Not before the agent can chat: a turn that is killed while libraries load has not been tried.
        while not await self._runtime.ready(60):
            log.warning("agent.slow_to_start")
        self._queue.bind(group, self._runner.drain)
        log.info("daemon.serving")

    async def _shut_down(
        self, adapters: "asyncio.Task[None]", background: "list[asyncio.Task[None]]"
    ) -> None:
        sdnotify.notify("STOPPING=1")
        log.info("daemon.stopping", running=self._queue.running)
        await self._queue.close(self._plan.config.shutdown.drain_s)
        await self._delivery.close(FLUSH_S)
        await _cancel(adapters)
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
                await self._db.write(self._desk.expire)
                if ticks % int(SWEEP_EVERY_S / TICK_S) == 0:
                    for head in await self._db.read(lanes.runnable):
                        self._queue.kick(head)
            except Exception:
                # The disk may be full or away for a while: the next tick tries again.
                log.exception("daemon.tick_failed")

    def _adapter_finished(self, adapter: Adapter) -> None:
        if adapter.platform == self._plan.leave_with:
            self._stop.set()

    def _tools_status(self) -> list[str]:
        adapters = [
            f"{name}: {health.trouble or 'online'}" for name, health in self._supervisor.health.items()
        ]
        servers = [
            f"Tools of {state.name}: {state.reason or f'{state.tools} ready'}"
            if state.status != "connecting"
            else f"Tools of {state.name}: connecting"
            for state in self._runtime.status()
        ]
        return adapters + servers


async def run_daemon(plan: Plan) -> int:
    """Open the state directory, serve, and leave it in order; returns the exit code.

    Raises:
        StateInUse: another process has the state directory.
        StoreUnavailable: it cannot be opened or written.
    """
    folder = plan.config.state_dir
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    database = await open_database(folder / "parley.db")
    try:
        await database.write(lambda tx: schema.migrate(tx, to_ms(utc_now())))
        try:
            daemon = Daemon(plan, database)
        except SettingsError as error:
            key, _, why = str(error).partition(": ")
            raise ConfigError([Problem(where=key, what=why, fix="correct it in the configuration")]) from None
        _on_signals(daemon)
        return await daemon.run()
    finally:
        await database.close()


def _on_signals(daemon: Daemon) -> None:
    loop = asyncio.get_running_loop()

    def first(number: int) -> None:
        log.info("daemon.signal", signal=signal.Signals(number).name)
        daemon.stop()
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(each)
            signal.signal(each, _at_once)

    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, first, each)


def _at_once(number: int, _frame: object) -> None:
    # The store needs no farewell: what was committed is safe, what was not was never acknowledged.
    os._exit(128 + number)


async def _cancel(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait([task], timeout=5)
