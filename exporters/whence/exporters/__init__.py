"""Answers leave Whence from here: PROV documents and evidence. Nothing is exported yet."""

__all__: list[str] = []
