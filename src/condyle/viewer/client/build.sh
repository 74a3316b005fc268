#!/bin/sh
# Make bundle.js of the sources beside it and three.js. Needs node and npm; run it after changing any of them.
# The first line of the bundle has the digest of the sources, which a test compares.
set -e
here=$(cd "$(dirname "$0")" && pwd)
work=${CONDYLE_BUILD:-$(mktemp -d)}
cp "$here"/package.json "$work"
cp "$here"/[a-z]*.js "$work" && rm -f "$work/bundle.js"
cd "$work"
[ -d node_modules/three ] || npm install --no-audit --no-fund --no-package-lock --silent
digest=$(cd "$here" && for f in *.js package.json; do [ "$f" = bundle.js ] || cat "$f"; done | sha256sum | cut -d' ' -f1)
{
  echo "/* condyle client $digest */"
  npx --no-install esbuild main.js --bundle --minify --format=esm --target=es2022 --legal-comments=inline
} > "$here/bundle.js.new"
mv "$here/bundle.js.new" "$here/bundle.js"
cp node_modules/three/LICENSE "$here/LICENSE.three"
