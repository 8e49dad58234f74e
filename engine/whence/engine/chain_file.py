"""The public name of `whence.engine.language.chain_file`."""

from __future__ import annotations

from whence.engine.language.chain_file import dump_chain, load_chain, with_log

__all__ = ["dump_chain", "load_chain", "with_log"]
