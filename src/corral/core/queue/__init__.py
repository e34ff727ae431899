"""The merge queue as a pure function. `model` is its input and output, `plan` what it decides,
`Learned` what it knows from earlier, `why` the same decisions in words."""
