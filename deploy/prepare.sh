#!/bin/sh
# Write what compose.yaml needs and must not contain: a random password, in the two forms that
# Neo4j and Whence read. A password that is there already stays.
set -eu
umask 077
cd "${1:-$(dirname "$0")}"

# The folder keeps others out. The files may be read by all, because inside a container they belong
# to another user than the one it runs as.
mkdir -p secrets
if [ ! -s secrets/neo4j_password ]; then
    # Letters and digits, so that nothing on the way needs quotes.
    LC_ALL=C tr -dc 'A-Za-z0-9' </dev/urandom | head -c 40 >secrets/.part
    mv secrets/.part secrets/neo4j_password
fi
{ printf 'neo4j/' && cat secrets/neo4j_password; } >secrets/.part
mv -f secrets/.part secrets/neo4j_auth
chmod 0444 secrets/neo4j_password secrets/neo4j_auth
echo "ready: docker compose -f deploy/compose.yaml up --build"
