"""The configuration as the rest of the gateway sees it: frozen, with the adapters' sections in place."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Protocol, Self, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    PrivateAttr,
    create_model,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from gateway.config.confidential import known_secrets
from gateway.config.layers import Layer, origin_of
from gateway.config.sections import (
    AccessSettings,
    AgentSettings,
    ApprovalSettings,
    AuditSettings,
    ChatSettings,
    ContextSettings,
    DeliverySettings,
    FileSettings,
    LimitSettings,
    LogSettings,
    McpServerSettings,
    MemorySettings,
    ModelSettings,
    QueueSettings,
    RetentionSettings,
    SessionSettings,
    ShutdownSettings,
    ToolSettings,
    TurnSettings,
    WebSettings,
)
from gateway.config.shape import Accounts, Keys, dotted, shape_of


class _SaysEnabled(Protocol):
    @property
    def enabled(self) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One bot identity: its platform and its own settings model."""

    platform: str
    settings: BaseModel
    place: str
    """Its place in the configuration, as `dotted` writes it: the platform, with [1] in a list of accounts."""

    @property
    def is_enabled(self) -> bool:
        """Whether enough is set to connect, as the adapter's settings model says by its `enabled`."""
        return cast("_SaysEnabled", self.settings).enabled


def _database(value: str) -> str:
    if value != "sqlite" and not value.startswith(("postgresql://", "postgres://")):
        raise ValueError("names no database Parley can use; write sqlite or postgresql://user@host/name")
    return value


def _not_yet(value: Mapping[str, Any]) -> Mapping[str, Any]:
    if value:
        raise ValueError("cannot be used in this version; leave it empty")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a configuration came from: its layers from weak to strong, the file, the `${NAME}` filled in."""

    layers: tuple[Layer, ...] = ()
    file: Path | None = None
    substituted: Mapping[str, str] = field(default_factory=dict)


class _LayerSource(PydanticBaseSettingsSource):
    """A layer as pydantic-settings wants its sources."""

    def __init__(self, settings_cls: type[BaseSettings], layer: Layer, name: str) -> None:
        super().__init__(settings_cls)
        self._layer = layer
        self.__name__ = name  # pydantic-settings keeps sources apart by it

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        return self._layer.values.get(field.alias or field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        return self._layer.values


class Config(BaseSettings):
    """Every setting; attribute names are the YAML's keys (`mcpServers` is `mcp_servers`).

    An instance comes from `load_config`, whose class also has the adapters' sections.
    """

    model_config = SettingsConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, populate_by_name=True
    )

    state_dir: Path = Path("state")
    database: Annotated[str, AfterValidator(_database)] = "sqlite"
    web: WebSettings = Field(default_factory=WebSettings)
    agents: Mapping[str, AgentSettings] = Field(default_factory=dict)
    models: Mapping[str, ModelSettings] = Field(default_factory=dict)
    mcp_servers: Mapping[str, McpServerSettings] = Field(default_factory=dict, alias="mcpServers")
    approvals: ApprovalSettings = Field(default_factory=ApprovalSettings)
    audit: AuditSettings = Field(default_factory=AuditSettings)
    tools: ToolSettings = Field(default_factory=ToolSettings)
    turns: TurnSettings = Field(default_factory=TurnSettings)
    shutdown: ShutdownSettings = Field(default_factory=ShutdownSettings)
    context: ContextSettings = Field(default_factory=ContextSettings)
    memory: MemorySettings = Field(default_factory=MemorySettings)
    delivery: DeliverySettings = Field(default_factory=DeliverySettings)
    files: FileSettings = Field(default_factory=FileSettings)
    retention: RetentionSettings = Field(default_factory=RetentionSettings)
    limits: LimitSettings = Field(default_factory=LimitSettings)
    chats: Mapping[str, ChatSettings] = Field(default_factory=dict)
    schedules: Annotated[Mapping[str, Any], AfterValidator(_not_yet)] = Field(default_factory=dict)
    webhooks: Annotated[Mapping[str, Any], AfterValidator(_not_yet)] = Field(default_factory=dict)
    sessions: SessionSettings = Field(default_factory=SessionSettings)
    queue: QueueSettings = Field(default_factory=QueueSettings)
    access: AccessSettings = Field(default_factory=AccessSettings)
    log: LogSettings = Field(default_factory=LogSettings)

    _provenance: Provenance = PrivateAttr(default_factory=Provenance)

    @classmethod
    def of(cls, provenance: Provenance) -> Self:
        """The configuration these layers make.

        Raises:
            pydantic.ValidationError: values are missing or not what they should be.
        """

        class Loaded(cls):  # type: ignore[valid-type,misc]
            @classmethod
            def settings_customise_sources(
                cls, settings_cls: type[BaseSettings], **_: PydanticBaseSettingsSource
            ) -> tuple[PydanticBaseSettingsSource, ...]:
                strong_first = reversed(list(enumerate(provenance.layers)))
                return tuple(
                    _LayerSource(settings_cls, layer, f"layer {index}") for index, layer in strong_first
                )

        config: Self = Loaded()
        config._provenance = provenance
        return config

    @property
    def file(self) -> Path | None:
        """The file that was read, or None where there is none."""
        return self._provenance.file

    @property
    def platforms(self) -> tuple[str, ...]:
        """The platforms that have a section, in the order of the adapter table."""
        return tuple(name for name in type(self).model_fields if name not in Config.model_fields)

    @property
    def accounts(self) -> tuple[Account, ...]:
        """The bots to run, in the order of the adapter table: those with enough set to connect."""
        return tuple(
            account for platform in self.platforms for account in self.section(platform) if account.is_enabled
        )

    def section(self, platform: str) -> tuple[Account, ...]:
        """All accounts under `platform`, enabled or not; () for a platform without a section.

        One with every default where nothing was written, unless its settings cannot do without a value.
        """
        if platform not in self.platforms:
            return ()
        entries: tuple[BaseModel, ...] = getattr(self, platform)
        many = any(isinstance(layer.values.get(platform), list) for layer in self._provenance.layers)
        return tuple(
            Account(
                platform=platform, settings=entry, place=dotted((platform, index) if many else (platform,))
            )
            for index, entry in enumerate(entries)
        )

    @property
    def used_models(self) -> frozenset[str]:
        """The names of the models some agent may be answered or helped by."""
        used: set[str] = set()
        wanted = [agent.model for agent in self.agents.values()]
        if self.context.summary_model is not None:
            wanted.append(self.context.summary_model)
        while wanted:
            name = wanted.pop()
            if name not in used and name in self.models:
                used.add(name)
                wanted += self.models[name].fallback
        return frozenset(used)

    def secrets(self) -> tuple[str, ...]:
        """Every secret in force, longest first: what `Redactor` must hide."""
        return known_secrets(self.model_dump(by_alias=True), self._provenance.substituted)

    def origin(self, path: tuple[str | int, ...]) -> str:
        """Where the value at `path` was written: "config.yaml:12", a variable's name, or "default"."""
        return origin_of(path, self._provenance.layers)


def config_type(sections: Mapping[str, type[BaseModel]]) -> type[Config]:
    """The class of a configuration that also has these sections, each a tuple of one or several accounts.

    Raises:
        ValueError: an adapter's fault: its platform has the name of one of Parley's own sections, or its
            settings do not say whether they are `enabled`.
    """
    taken = sorted(set(sections) & _core_keys())
    if taken:
        raise ValueError(f"these platform names are taken by sections of Parley: {', '.join(taken)}")
    mute = sorted(name for name, model in sections.items() if not _says_enabled(model))
    if mute:
        raise ValueError(f"these platforms' settings have no `enabled`: {', '.join(mute)}")
    fields: dict[str, Any] = {
        name: (Annotated[tuple[model, ...], BeforeValidator(_as_list)], _default_accounts(model))  # type: ignore[valid-type]
        for name, model in sections.items()
    }
    return create_model("ParleyConfig", __base__=Config, **fields)


def config_shape(sections: Mapping[str, type[BaseModel]]) -> Keys:
    """The keys such a configuration accepts; the adapters' sections may be one mapping or a list."""
    core = shape_of(Config)
    assert isinstance(core, Keys)
    own: dict[str, Accounts] = {}
    for name, model in sections.items():
        account = shape_of(model)
        assert isinstance(account, Keys)
        own[name] = Accounts(account)
    return Keys({**core.keys, **own})


def _default_accounts(model: type[BaseModel]) -> tuple[BaseModel, ...]:
    return () if any(field.is_required() for field in model.model_fields.values()) else (model(),)


def _says_enabled(model: type[BaseModel]) -> bool:
    return "enabled" in model.model_fields or isinstance(getattr(model, "enabled", None), property)


def _core_keys() -> set[str]:
    return {name for field, info in Config.model_fields.items() for name in (field, info.alias) if name}


def _as_list(value: Any) -> Any:
    return (value,) if isinstance(value, dict | BaseModel) else value
