"""Figures as ratios: each benchmark measures Corral and its floor or peer alternately, in one run.

`docs/benchmarks.md` explains the figures; `report` judges them.
"""
