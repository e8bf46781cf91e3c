"""The audit: what a network's memory is, what the usual ways say of it, what a number means."""

from memcurve.auditing.claims import Claim, Explanation
from memcurve.auditing.result import Audit
from memcurve.auditing.run import audit

__all__ = ["Audit", "Claim", "Explanation", "audit"]
