"""The merge queue as a pure function: `planning.plan` decides, `model` has its input and output.

`learning` folds what happened into what is known, `odds` says how likely a stack is to pass,
`lanes` fills free slots, `timing` sets deadlines and slots, `explaining` puts it into words.
"""
