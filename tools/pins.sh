#!/bin/sh
# Pin every package that set-up installs, with the hashes of all its files, for every platform.
# No address is written: whoever installs decides where packages come from.
set -eu
cd "$(dirname "$0")/.."
uv=${UV:-.venv/bin/uv}

compile() {
    output=$1
    shift
    # Header and annotations name the command and its paths; the files shall not depend on them.
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes \
        --no-header --no-emit-index-url --no-emit-find-links --upgrade \
        --output-file "$output" "$@"
    printf 'pinned %s packages in %s\n' "$(grep -c '^[a-zA-Z0-9]' "$output")" "$output"
}

compile requirements.txt pyproject.toml --extra dev
compile requirements-runtime.txt pyproject.toml --extra all --constraint requirements.txt
compile requirements-bootstrap.txt --group bootstrap --constraint requirements.txt
compile requirements-java.txt --group java
