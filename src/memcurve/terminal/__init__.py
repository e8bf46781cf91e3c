"""Results as tables in the terminal, one subject a file, and as JSON."""

from memcurve.terminal.comparison import (
    comparison_content,
    print_comparison,
    print_comparison_as_json,
)
from memcurve.terminal.curves import print_curve, print_profile
from memcurve.terminal.document import print_document
from memcurve.terminal.json_text import strict_json
from memcurve.terminal.paper import paper_content, print_outcomes
from memcurve.terminal.recorded import print_capacity, print_estimators, print_recorded
from memcurve.terminal.sweeps import (
    estimate_content,
    print_estimate,
    print_studies,
    print_sweep,
    sweep_content,
)

__all__ = [
    "comparison_content",
    "estimate_content",
    "paper_content",
    "print_capacity",
    "print_comparison",
    "print_comparison_as_json",
    "print_curve",
    "print_document",
    "print_estimate",
    "print_estimators",
    "print_outcomes",
    "print_profile",
    "print_recorded",
    "print_studies",
    "print_sweep",
    "strict_json",
    "sweep_content",
]
