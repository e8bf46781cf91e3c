"""The paper's experiments: Ballarin, Grigoryeva and Ortega, arXiv 2305.01457, figures 1 to 6."""

from memcurve.paper.claims import CLAIMS, CheckedClaim, check_claims
from memcurve.paper.figures import FIGURES, Settings
from memcurve.paper.run import reproduce

__all__ = ["CLAIMS", "FIGURES", "CheckedClaim", "Settings", "check_claims", "reproduce"]
