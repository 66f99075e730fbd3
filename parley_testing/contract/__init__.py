"""The suite every adapter has to pass.

A test module of yours is three lines:

    from parley_testing.contract.test_adapters import *  # the suite
    from parley_matrix.testing import MatrixStage
    STAGES = {"matrix": MatrixStage}

A stage is your platform with one person in it, see `Stage`; what the platform lacks its `abilities` leave out.
"""

from .stages.base import Ability, Place, RecordingInbox, Running, Stage

__all__ = ["Ability", "Place", "RecordingInbox", "Running", "Stage"]
