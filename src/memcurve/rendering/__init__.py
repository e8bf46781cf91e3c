"""How results look: ``plot`` draws them, ``report`` makes documents of them.

Results call these from their own ``plot`` and ``to_html``, so that this ring stands next to
``core``, which is all it imports. Start reading at ``report.document``.
"""
