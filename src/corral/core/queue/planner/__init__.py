"""The merge queue as a pure function: `plan.plan` decides, `model` has its input and output.

`learning` folds events into what is known, `odds` estimates how likely a stack is to pass, `lanes`
fills free slots, `timing` sets deadlines and slots, `explain` puts it into words.
"""
