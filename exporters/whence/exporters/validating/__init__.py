"""Is a PROV document valid? Our own checker of W3C PROV-CONSTRAINTS, in linear time.

>>> from whence.exporters.validating import validate      # a file
"""

from __future__ import annotations

from whence.exporters.prov.formats import READ as FORMATS
from whence.exporters.validating.checking import validate
from whence.exporters.validating.report import Report, Violation
from whence.exporters.validating.rules import BEYOND, CONSTRAINTS, RULES

__all__ = ["BEYOND", "CONSTRAINTS", "FORMATS", "RULES", "Report", "Violation", "validate"]
