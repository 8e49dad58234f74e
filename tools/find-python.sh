#!/bin/sh
# Print a Python that can set Whence up: 3.11 or newer, with venv. Each candidate is really run,
# because a name on PATH may be a shim that leads nowhere.
if [ -n "${PYTHON:-}" ]; then
    set -- "$PYTHON"
else
    set -- python3 python3.13 python3.12 python3.11 python3.14 python
fi
first=$1
for candidate; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
        >/dev/null 2>&1; then
        command -v "$candidate"
        exit 0
    fi
done
found=$("$first" --version 2>&1) || found="no $first that runs"
echo "setup: expected Python 3.11 or newer with venv; got $found;" \
    "try installing one (its venv package too), or make setup PYTHON=/path/to/python3.12" >&2
exit 1
