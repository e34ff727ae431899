"""The mayor: an engine that looks at the code, changes nothing, and answers with a plan.

`run` carries out one run of the engine, `talk` the conversation: put a question, take the answer,
send back what is wrong with it. All that is decided is in `core/mayor/rules` and `core/plan`; all
that matters is in the log, so that a conversation that was killed goes on where it was.
"""
