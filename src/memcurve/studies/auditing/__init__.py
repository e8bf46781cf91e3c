"""The audit: a network's memory, what standard methods report, what a claimed number means."""

from memcurve.studies.auditing.claims import Claim, Explanation
from memcurve.studies.auditing.result import Audit
from memcurve.studies.auditing.run import audit

__all__ = ["Audit", "Claim", "Explanation", "audit"]
