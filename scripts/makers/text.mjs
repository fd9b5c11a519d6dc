/**
 * Texts: encodings, XML by root, JSON by kind, subtitles.
 * @module
 */

/** @type {import("./main.mjs").Maker[]} */
export const makers = [
  {
    maker: "iconv",
    debian: ["libc-bin"],
    shell: `printf 'Grüße aus München\\nzweite Zeile\\ndritte Zeile mit Text\\n' > u8.txt
for e in UTF-16LE UTF-16BE UTF-16 UTF-32; do iconv -f UTF-8 -t $e u8.txt > $e.txt; done
iconv -t WINDOWS-1252 u8.txt > cp1252.txt`,
    files: {
      "u8.txt": ["text", "3 lines"],
      "UTF-16.txt": [/UTF-16/, "Grüße"],
      "UTF-16LE.txt": [/UTF-16/, "Grüße"],
      "UTF-16BE.txt": [/UTF-16/, "Grüße"],
      "UTF-32.txt": [/UTF-32/, "Grüße"],
      "cp1252.txt": [/text/],
    },
  },
  {
    maker: "sqlite3",
    debian: ["sqlite3"],
    shell: `sqlite3 d.db "create table t(a,b);insert into t values(1,'x'),(2,'y'),(3,'z'),(4,'w'),(5,'v'),(6,'u'),(7,'t'),(8,'s');"
sqlite3 d.db .dump > dump.sql; sqlite3 d.db ".mode insert" "select * from t" > insert.sql; sqlite3 -csv -header d.db "select * from t" > table.csv`,
    files: {
      "dump.sql": [/text|SQL/, /lines/],
      "insert.sql": [/text|SQL/, /lines/],
      "table.csv": ["CSV", "8 rows", "2 columns"],
    },
  },
  {
    maker: "Python json, csv and xml",
    shell: `python3 - <<'X'
import json, csv
json.dump({"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {}, "geometry": {"type": "Point", "coordinates": [n, n]}} for n in range(12)]}, open("points.geojson", "w"))
json.dump({"log": {"version": "1.2", "creator": {"name": "x"}, "entries": [{"startedDateTime": "2026-01-01T00:00:00Z", "request": {"method": "GET", "url": "https://a.example/"}, "response": {"status": 200}} for n in range(5)]}}, open("page.har", "w"))
json.dump({"resourceType": "Bundle", "type": "collection", "entry": [{"resource": {"resourceType": "Observation"}} for n in range(4)]}, open("bundle.json", "w"))
json.dump({"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "paths": {"/pets": {}}}, open("openapi.json", "w"))
json.dump({"version": "2.1.0", "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "runs": [{"tool": {}, "results": [{"ruleId": "a"}, {"ruleId": "b"}]}]}, open("scan.sarif", "w"))
with open("semi.csv", "w") as f:
    f.write("sep=;\\n"); w = csv.writer(f, delimiter=";"); w.writerow(["a", "b"]); [w.writerow([n, n]) for n in range(9)]
open("film.srt", "w").write("".join("%d\\n00:00:%02d,000 --> 00:00:%02d,500\\nWords\\n\\n" % (n + 1, n, n) for n in range(30)))
open("film.vtt", "w").write("WEBVTT\\n\\n" + "".join("00:%02d.000 --> 00:%02d.500\\nWords\\n\\n" % (n, n) for n in range(30)))
X`,
    files: {
      "points.geojson": ["GeoJSON", "12 features"],
      "page.har": ["HAR", "5 requests"],
      "bundle.json": ["FHIR Bundle", "4 entries"],
      "openapi.json": ["OpenAPI description"],
      "scan.sarif": ["SARIF report", "2 results"],
      "semi.csv": ["CSV", "9 rows", "2 columns"],
      "film.srt": ["SubRip subtitles", "30 cues"],
      "film.vtt": ["WebVTT subtitles", "30 cues", "0:29 long"],
    },
  },
];
