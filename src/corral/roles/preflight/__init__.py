"""The preflight: can sessions and checks run here at all, before anything is spent on them?

`machine` looks at the disk and the environment, `engines` at programs, keys and budgets, `landing`
at the remote, and `base` checks out a branch, sets it up and runs its checks, exactly as the
refinery will; `canary` tries whether those checks notice broken code. `whole` puts them together
for `corral check`; `gate` asks it before work starts, unless `memory` knows that all of it was
fine. Nothing is written to the log, no model is asked, and each fault is one finding with a remedy.
"""
