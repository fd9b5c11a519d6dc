#!/usr/bin/env bash
# numfmt 4.0.1: what it says of `mm:ss` and `[h]:mm` is not what it renders.
#
# `getFormatDateInfo` says that `mm:ss` has a month and no minutes; `format` writes minutes, as Excel does. Of `[h]:mm`
# it says the same as of `h:mm`, so it does not tell durations, which may be more than a day, from times of day. Whether
# an `m` is a month, and whether hours are a duration, has to be read of the tokens. A language within a currency, as in
# `[$€-407]`, changes the separators of the number, where Excel goes by the language of the system.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "type": "module" }' >package.json
npm install --silent --no-audit --no-fund --no-package-lock numfmt@4.0.1

cat >probe.mjs <<'END'
import { format, getFormatDateInfo, tokenize } from "numfmt";

for (const code of ["mm:ss", "h:mm", "[h]:mm"]) {
  const { month, hours, minutes } = getFormatDateInfo(code);
  const types = tokenize(code).map(({ type }) => type);
  console.log(`${code}: ${format(code, 1.5003)}, month ${month}, hours ${hours}, minutes ${minutes}, ${types.join(" ")}`);
}
for (const code of ['#,##0.00 "€"', "#,##0.00 [$€]", "#,##0.00 [$€-407]"]) console.log(`${code}: ${format(code, 1234.5)}`);
END

cat >expected <<'END'
mm:ss: 00:26, month true, hours false, minutes false, DATETIME CHAR DATETIME
h:mm: 12:00, month false, hours true, minutes true, DATETIME CHAR DATETIME
[h]:mm: 36:00, month false, hours true, minutes true, DURATION CHAR DATETIME
#,##0.00 "€": 1,234.50 €
#,##0.00 [$€]: 1,234.50 €
#,##0.00 [$€-407]: 1.234,50 €
END

node probe.mjs | tee seen
diff expected seen || {
  echo "The behaviour has changed: < expected, > seen." >&2
  exit 1
}
