"""The audit: a network's memory, what standard methods report, what a claimed number means."""

from memcurve.auditing.claims import Claim, Explanation
from memcurve.auditing.result import Audit
from memcurve.auditing.run import audit

__all__ = ["Audit", "Claim", "Explanation", "audit"]
