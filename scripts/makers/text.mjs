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
    program: ["python3", "--version"],
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
  {
    maker: "iconv, other languages",
    debian: ["libc-bin"],
    shell: `python3 -c "print('これは日本語の文章です。漢字とかなが混ざっています。\\n' * 6, end='')" > ja.txt; python3 -c "print('这是一个中文文本，里面有很多常用的汉字。\\n' * 6, end='')" > zh.txt; python3 -c "print('Это русский текст, в котором есть слова.\\n' * 6, end='')" > ru.txt
iconv -t SHIFT_JIS ja.txt > sjis.txt; iconv -t EUC-JP ja.txt > eucjp.txt; iconv -t GB18030 zh.txt > gb18030.txt; iconv -t WINDOWS-1251 ru.txt > cp1251.txt; iconv -t ISO-8859-1 u8.txt > latin1.txt; (printf '\\xef\\xbb\\xbf'; cat u8.txt) > bom.txt`,
    files: {
      "sjis.txt": [/Shift.JIS text/],
      "eucjp.txt": [/EUC-JP text/],
      "gb18030.txt": [/GB18030 text|GBK text/],
      "cp1251.txt": [/Windows-1251 text/],
      "latin1.txt": [/text/, /Windows-1252|Latin-1|not UTF-8/],
      "bom.txt": ["text", "3 lines", "Grüße"],
    },
  },
  {
    maker: "npm",
    program: ["npm", "--version"],
    shell: `echo '{"name":"x","version":"1.0.0","dependencies":{}}' > package.json; npm install --package-lock-only --no-audit --no-fund --silent; npm sbom --sbom-format cyclonedx --package-lock-only > npm.cdx.json; npm sbom --sbom-format spdx --package-lock-only > npm.spdx.json; rm package.json`,
    files: {
      "package-lock.json": ["npm lockfile"],
      "npm.cdx.json": ["CycloneDX bill of materials"],
      "npm.spdx.json": ["SPDX bill of materials", "1 package"],
    },
  },
  {
    maker: "feed and sitemap",
    npm: ["feed@6.0.0", "sitemap@9.0.1"],
    node: `
import { writeFileSync } from "node:fs";
import { Feed } from "feed";
import { SitemapStream, streamToPromise } from "sitemap";
const feed = new Feed({ title: "News of the day", id: "https://a.example/", link: "https://a.example/", copyright: "x" });
for (let n = 0; n < 7; n++) feed.addItem({ title: "Item " + n, id: "https://a.example/" + n, link: "https://a.example/" + n, date: new Date(1700000000000) });
writeFileSync("feed.rss", feed.rss2()); writeFileSync("feed.atom", feed.atom1()); writeFileSync("feed.json", feed.json1());
const map = new SitemapStream({ hostname: "https://a.example" });
for (let n = 0; n < 8; n++) map.write({ url: "/" + n });
map.end(); writeFileSync("sitemap.xml", await streamToPromise(map));
`,
    files: {
      "feed.rss": ["RSS feed", "7 items", "News of the day"],
      "feed.atom": ["Atom feed", "7 entries", "News of the day"],
      "feed.json": [/JSON/, /items: array of 7/],
      "sitemap.xml": ["sitemap", "8 pages"],
    },
  },
  {
    maker: "pytest",
    debian: ["python3-pytest"],
    shell: `printf 'def test_a(): pass\\ndef test_b(): assert 0\\ndef test_c(): pass\\n' > test_it.py; python3 -m pytest -q -p no:cacheprovider --junitxml=pytest.xml test_it.py > pytest.log || true`,
    files: { "pytest.xml": ["JUnit report", "3 tests"], "pytest.log": ["text", /lines/] },
  },
  {
    maker: "Node's test runner",
    program: ["node", "--version"],
    shell: `echo 'import t from "node:test"; t("a", () => {}); t("b", () => {});' > two.test.mjs; node --test --test-reporter=junit two.test.mjs > node.junit.xml; node --test --test-reporter=tap two.test.mjs > node.tap`,
    files: { "node.junit.xml": ["JUnit report", "2 tests"], "node.tap": [/TAP|text/] },
  },
  {
    maker: "nbformat",
    debian: ["python3-nbformat"],
    python: `
import nbformat
from nbformat.v4 import new_notebook, new_code_cell, new_markdown_cell
nbformat.write(new_notebook(cells=[new_markdown_cell("# One"), new_code_cell("1 + 1"), new_code_cell("2")], metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}), "nbformat.ipynb")
`,
    files: { "nbformat.ipynb": ["Jupyter notebook", "3 cells"] },
  },
  {
    maker: "git",
    debian: ["git"],
    shell: `rm -rf g; git init -q g; cd g; seq 9 > a.txt; echo x > b.py; git add .; git -c user.name=a -c user.email=a@b.example commit -qm one; seq 12 > a.txt; echo y > b.py; git diff > ../git.diff; git -c user.name=a -c user.email=a@b.example commit -qam two; git format-patch -q -1 --stdout > ../git.patch; git log > ../git.log`,
    files: {
      "git.diff": ["diff", "2 files"],
      "git.patch": [/diff|patch|mailbox/],
      "git.log": ["git log", "2 commits"],
    },
  },
  {
    maker: "gettext",
    debian: ["gettext"],
    shell: `echo 'int main() { puts(gettext("Hello")); puts(gettext("Bye")); }' > m.c; xgettext -k_ -kgettext -o m.pot m.c; msginit --no-translator -l de -i m.pot -o m.po 2>/dev/null; msgfmt -o m.mo m.po`,
    files: { "m.po": [/gettext|PO |text/], "m.mo": [/gettext/] },
  },
  {
    maker: "docutils",
    debian: ["python3-docutils"],
    shell: `printf 'A page\\n======\\n\\nWords.\\n\\nPart\\n----\\n\\nMore.\\n' > d.rst; rst2html d.rst docutils.html 2>/dev/null || python3 -m docutils d.rst docutils.html; rst2xml d.rst docutils.xml 2>/dev/null; rst2latex d.rst docutils.tex 2>/dev/null`,
    files: { "docutils.html": ["HTML", /A page/], "docutils.xml": ["XML"], "docutils.tex": [/TeX|text/] },
  },
  {
    maker: "FFmpeg's subtitles",
    debian: ["ffmpeg"],
    shell: `printf '1\\n00:00:01,000 --> 00:00:02,000\\nOne\\n\\n2\\n00:01:01,000 --> 00:01:02,500\\nTwo\\n' > in.srt; ffmpeg -nostdin -v error -y -i in.srt ff.srt; ffmpeg -nostdin -v error -y -i in.srt ff.vtt; ffmpeg -nostdin -v error -y -i in.srt ff.ass`,
    files: {
      "ff.srt": ["SubRip subtitles", "2 cues", "1:0"],
      "ff.vtt": ["WebVTT subtitles", "2 cues", "1:0"],
      "ff.ass": [/subtitles/, /cues|lines/],
    },
  },
];
