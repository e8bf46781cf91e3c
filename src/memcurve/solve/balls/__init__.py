"""Every question in ball arithmetic: numbers with proven errors, for the very numbers stored.

The plain question goes through the minimal polynomial (:mod:`.plain`), all others
(:mod:`.general`) through the states' covariance M, enclosed with as many bits as its condition
takes; W with W M Wᵀ ≈ I changes to coordinates in which the states are white. There nothing cancels
any more: lags, horizons and totals follow with some two hundred bits.
"""
