"""The experiments: ``declared.yaml`` says what is measured, `make experiments` runs it."""
