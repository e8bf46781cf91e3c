"""How fast and how right memcurve is, next to the paper's methods and other libraries.

``python -m benchmarks`` measures and writes the tables; ``--help`` lists its options.
"""
