#!/usr/bin/env bash
# crypto.sh - build bench/crypto.c outside of the checkout and run it; 'make bench-crypto' calls it.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../test/lib/cluster.sh
. "$(dirname "$0")/../test/lib/cluster.sh"
# shellcheck source-path=SCRIPTDIR source=../test/lib/deps.sh
. "$top/test/lib/deps.sh"

workspace
need crypto
cd "$top"
# the part of src/ that does not need PostgreSQL
sources=(src/crypto/*.c)
quietly build "${CC:-gcc}" -std=gnu11 -O2 -Wall -Wextra -Isrc -o "$work/crypto" bench/crypto.c bench/common.c "${sources[@]}" -lcrypto
run "$work/crypto"
