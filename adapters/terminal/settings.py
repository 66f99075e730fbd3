"""What the command line decides for the terminal; no key of the configuration file reaches it."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict


class TerminalSettings(BaseModel):
    """How the terminal is used.

    `once`: take this one message, show the answer and end. `history_file`: where typed lines are kept, with
    access for their writer alone; None keeps them for this run only. `account`: which terminal this is, where
    several are joined to one daemon. `files_dir`: where files that are sent to the person are put; None: nowhere.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    once: str | None = None
    history_file: Path | None = None
    account: str = "local"
    files_dir: Path | None = None

    @property
    def enabled(self) -> bool:
        """Whether enough is set to start: always."""
        return True
