#!/usr/bin/env bash
# numfmt 4.0.1: a fraction that is rounded to a whole one is counted twice.
#
# In the format `# ?/?`, 99.995 is nearest to 100, and `format` writes `100 1/1`, which is 101: the whole number is rounded
# up, and the fraction is written as well. It is so whenever the fraction rounds to one, with any count of digits, and
# with fixed denominators. Excel and LibreOffice write `100`.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "type": "module" }' >package.json
npm install --silent --no-audit --no-fund --no-package-lock numfmt@4.0.1

cat >probe.mjs <<'END'
import { format } from "numfmt";

for (const code of ["# ?/?", "# ??/??", "# ?/8"]) console.log(`${code}: ${format(code, 99.5).trim()}, ${format(code, 99.999).trim()}`);
END

cat >expected <<'END'
# ?/?: 99 1/2, 100 1/1
# ??/??: 99  1/2, 100  1/1
# ?/8: 99 4/8, 100 8/8
END

node probe.mjs | tee seen
diff expected seen || {
  echo "The behaviour has changed: < expected, > seen." >&2
  exit 1
}
