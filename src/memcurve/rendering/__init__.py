"""Plots and reports of results: ``plot`` draws them, ``report`` makes documents of them.

Results call these from their own ``plot`` and ``to_html``, so that this ring imports
only ``core``. Start reading at ``report.document``.
"""
