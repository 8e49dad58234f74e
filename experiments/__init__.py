"""The experiments: ``declared.yaml`` declares what is measured, `make experiments` runs it."""
