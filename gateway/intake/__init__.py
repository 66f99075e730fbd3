"""The one door in: `door` judges and stores every update, `settings` says how."""

from gateway.intake.door import Intake
from gateway.intake.settings import IntakeSettings

__all__ = ["Intake", "IntakeSettings"]
