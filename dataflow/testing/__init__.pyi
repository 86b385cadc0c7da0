# The public names, and where each of them is; imported when it is first used.

from .stores import OutcomeConformance, ProcessConformance, StoreConformance

__all__ = ["OutcomeConformance", "ProcessConformance", "StoreConformance"]
