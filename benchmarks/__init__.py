"""Figures as ratios: each benchmark measures Corral and its floor or peer in turns, in one run.

`docs/benchmarks.md` says what the figures mean; `report` how they are judged.
"""
