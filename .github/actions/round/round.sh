#!/usr/bin/env bash
# Orders the rounds, waits for them, and comments what they came to, also where one of them failed. Ends as the order did.
set -uo pipefail
# Words, on one line or several.
read -rd '' -a more <<<"${OPTIONS:-}"
lines=$(mktemp)
npx --yes "$PACKAGE" trigger "$MESH_URL" --recipe "$RECIPE" --rounds "$ROUNDS" --wait --json ${more[@]+"${more[@]}"} | tee "$lines"
came=$?
node "$ACTION/comment.mjs" "$lines" || exit 1
exit "$came"
