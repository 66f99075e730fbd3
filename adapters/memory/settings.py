"""What can be set of the memory platform: mostly what it shall be able to do."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, PositiveInt


class MemorySettings(BaseModel):
    """The memory platform's account and abilities, see `gateway.adapter.Capabilities`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    platform: str = "memory"
    account: str = "bot"
    limit: PositiveInt = 4096
    edit_limit: PositiveInt = 4096
    input_limit: PositiveInt | None = None
    buttons: bool = True
    threads: bool = True
    edit_gap_s: float = 0.0
    send_gap_s: float = 0.0
    idempotency: Literal["key", "lookup", "none"] = "none"
    idempotency_window_s: float = 0.0
    streaming: bool = False
    ends_growth: bool = False
    shows_authors: bool = False
    drafts: bool = False  # a reply that is being written is shown in a way of its own
    typing_gap_s: float = 4.5
    file_limit_bytes: int = 10_000_000
    caption_limit: int = 1024

    @property
    def enabled(self) -> bool:
        """Whether enough is set to connect: always."""
        return True
