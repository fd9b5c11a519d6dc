#!/usr/bin/env bash
# @uwdata/flechette 2.6.0: dates that are written as nanoseconds are stored some nanoseconds off, and come back as the millisecond before.
#
# `columnFromArray` takes dates for `timestamp(TimeUnit.NANOSECOND)`, which has room for every whole millisecond of 2026. They are multiplied
# as doubles, which hold multiples of 256 at that size, so that the stored integer is up to 128 ns too small or too large. Read
# back, of a thousand milliseconds in a row an eighth are a fraction too small, and `new Date` cuts them to the millisecond before. As
# microseconds all are exact. Seconds, which could be rounded, refuse a date that has milliseconds with a RangeError of BigInt.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "type": "module" }' >package.json
npm install --silent --no-audit --no-fund --no-package-lock @uwdata/flechette@2.6.0

cat >probe.js <<'END_OF_FILE'
import { columnFromArray, tableFromColumns, tableFromIPC, tableToIPC, timestamp, TimeUnit } from "@uwdata/flechette";

const first = Date.UTC(2026, 0, 2, 3, 4, 5);
const dates = Array.from({ length: 1000 }, (_, at) => new Date(first + at));

function readBack(unit, options) {
  const table = tableFromColumns({ at: columnFromArray(dates, timestamp(unit)) });
  return [...tableFromIPC(tableToIPC(table), options).getChild("at")];
}

for (const name of ["MILLISECOND", "MICROSECOND", "NANOSECOND"]) {
  const read = readBack(TimeUnit[name]).map((value) => new Date(value).getTime());
  const earlier = read.filter((value, at) => value === first + at - 1).length;
  const same = read.filter((value, at) => value === first + at).length;
  console.log(`${name}: ${same} of 1000 are the same date, ${earlier} are a millisecond earlier`);
}
const stored = readBack(TimeUnit.NANOSECOND, { useBigIntTimestamp: true });
console.log(`${dates[250].toISOString()} is stored as ${stored[250]} ns`);
try {
  columnFromArray([dates[250]], timestamp(TimeUnit.SECOND));
} catch (error) {
  console.log(`SECOND: ${error.name}`);
}
END_OF_FILE

cat >expected <<'END'
MILLISECOND: 1000 of 1000 are the same date, 0 are a millisecond earlier
MICROSECOND: 1000 of 1000 are the same date, 0 are a millisecond earlier
NANOSECOND: 875 of 1000 are the same date, 125 are a millisecond earlier
2026-01-02T03:04:05.250Z is stored as 1767323045249999872 ns
SECOND: RangeError
END

node probe.js | tee seen
diff expected seen || {
  echo "The behaviour has changed: < expected, > seen." >&2
  exit 1
}
