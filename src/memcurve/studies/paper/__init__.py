"""The paper's experiments: Ballarin, Grigoryeva and Ortega, arXiv 2305.01457, figures 1 to 6."""

from memcurve.studies.paper.claims import CLAIMS, CheckedClaim, check_claims
from memcurve.studies.paper.figures import FIGURES, Settings
from memcurve.studies.paper.run import reproduce

__all__ = ["CLAIMS", "FIGURES", "CheckedClaim", "Settings", "check_claims", "reproduce"]
