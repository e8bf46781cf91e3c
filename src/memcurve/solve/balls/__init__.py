"""Every question in ball arithmetic: numbers with proven errors, for the very numbers stored.

The plain question goes through the minimal polynomial (:mod:`.plain`), all others
(:mod:`.general`) through the states' covariance M, enclosed with as many bits as its condition
takes; W with W M Wᵀ ≈ I whitens the states. In these coordinates nothing cancels: lags, horizons
and totals follow with some two hundred bits.
"""
