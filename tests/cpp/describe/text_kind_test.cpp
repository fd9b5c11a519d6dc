// What programs print and people write, told by their lines.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "describe/describe_fixture.h"
#include "sluice/describe.h"

namespace sluice {

namespace {

std::string line_about(std::string_view text) {
  Subject subject;
  subject.type = type_of_mime("text/plain");
  subject.text = true;
  subject.size_bytes = text.size();
  subject.head = as_bytes(text.substr(0, kDescribeHead));
  subject.tail = as_bytes(text.substr(text.size() - std::min(text.size(), kExcerptTail)));
  tell_text(text, subject);
  return describe(subject);
}

/// The description up to the lines that it quotes.
std::string kind_of(std::string_view text) {
  return std::string(without_first_line(line_about(text)));
}

std::string repeated(std::string_view text, size_t times) {
  std::string out;
  while (times-- > 0) out += text;
  return out;
}

std::string numbered(std::string_view before, size_t count, std::string_view after) {
  std::string out;
  for (size_t at = 1; at <= count; ++at) {
    out.append(before).append(std::to_string(at)).append(after).append("\n");
  }
  return out;
}

}  // namespace

TEST(DescribeKind, DiffByItsFiles) {
  const auto file = [](const std::string& name) {
    return "diff --git a/" + name + " b/" + name + "\nindex 1..2 100644\n--- a/" + name +
           "\n+++ b/" + name +
           "\n@@ -1,3 +1,4 @@ f()\n same\n-old\n--- not a name\n+new\n+++ nor this\n+x\n";
  };
  EXPECT_EQ(kind_of(file("src/a.ts") + file("b.ts")),
            "diff, 280 B, 22 lines, 2 files, +6 −4, names (from the file): \"src/a.ts\" +3 −2, "
            "\"b.ts\" +3 −2");
  const std::string plain =
      "--- old.txt\t2026-01-01\n+++ new.txt\t2026-01-02\n@@ -1 +1 @@\n-a\n+b\n"
      "--- c\n+++ d\n@@ -1 +1,2 @@\n-a\n+b\n+c\n";
  EXPECT_NE(
      kind_of(plain).find("2 files, +3 −2, names (from the file): \"new.txt\" +1 −1, \"d\" +2"),
      std::string::npos)
      << kind_of(plain);
  // A list with dashes is none.
  EXPECT_TRUE(kind_of("--- a ---\n- one\n- two\n+ three\n").starts_with("text, "));
}

TEST(DescribeKind, LogOfGitByItsCommits) {
  const std::string hash(40, 'a');
  const std::string commit =
      "commit " + hash + "\nAuthor: A <a@b.c>\nDate:   Mon\n\n    Mend it\n\n";
  EXPECT_EQ(kind_of(repeated(commit, 12)),
            "git log, 1.1 KB, 72 lines, 12 commits, newest (from the file): \"Mend it\"");
  EXPECT_TRUE(
      kind_of(repeated("9fdb7653 Let it be\n* 1d1de7b9f Say it\n", 9)).starts_with("git log, "));
  EXPECT_EQ(kind_of("* 1234abcd (HEAD) Mend\n| * 3456cdef Branch\n|/\n* 4567def0 Base\n"),
            "git log, 62 B, 4 lines, 3 commits");
  EXPECT_TRUE(kind_of(repeated("12345678 birds\n", 9)).starts_with("text, "));
}

TEST(DescribeKind, HitsByTheirFiles) {
  EXPECT_EQ(kind_of(numbered("src/m4.ts:", 279, ":const x = f(a,b);")),
            "grep output, 8.6 KB, 279 lines, 279 hits in 1 file (from the file): \"src/m4.ts\"");
  EXPECT_EQ(kind_of("a/b.c-1-x\na/b.c:2:hit\na/b.c-3-x\n--\nc.h:7:hit\n"),
            "grep output, 45 B, 5 lines, 2 hits in 2 files (from the file): \"a/b.c\", \"c.h\"");
  EXPECT_EQ(kind_of("3:one\n17:two\n40:three\n"), "grep output, 22 B, 3 lines, 3 hits");
  EXPECT_EQ(
      kind_of("src/a.ts\n3:one\n4:two\n\nsrc/b.ts\n1:three\n"),
      "grep output, 39 B, 6 lines, 3 hits in 2 files (from the file): \"src/a.ts\", \"src/b.ts\"");
  EXPECT_EQ(kind_of("./a:x\n./a:y\n./b:z\n"),
            "grep output, 18 B, 3 lines, 3 hits in 2 files (from the file): \"./a\", \"./b\"");
  // Times, settings and what a compiler says are none.
  EXPECT_TRUE(kind_of("10:00:01 a\n11:00:02 b\n12:00:03 c\n").starts_with("text, "));
  EXPECT_TRUE(kind_of("host: a.b/c\nport: 1\nuser: x\n").starts_with("text, "));
  EXPECT_TRUE(
      kind_of(repeated("a.cpp:4:7: error: no such name\n", 4))
          .ends_with(", 4 lines, 4 messages, 4 errors in 1 file (from the file): \"a.cpp\""));
}

TEST(DescribeKind, ColoursDoNotCount) {
  const std::string hit =
      "\x1b[0m\x1b[35msrc/m4.ts\x1b[0m:\x1b[32m12\x1b[0m:has \x1b[1m\x1b[31mit\x1b[0m\n";
  EXPECT_EQ(kind_of(repeated(hit, 900)).substr(0, 11), "grep output");
  EXPECT_NE(kind_of(repeated(hit, 900)).find("900 hits in 1 file"), std::string::npos);
  const std::string listing = repeated("\x1b[01;34mdir\x1b[0m, \x1b[01;32mrun.sh\x1b[0m\n", 90);
  EXPECT_TRUE(kind_of(listing).starts_with("text, "));
  const std::string json =
      "\x1b[1;39m[\x1b[0;32m{\x1b[34;1m\"id\"\x1b[0m: 7}, {\"id\": 8}\x1b[1;39m]\x1b[0m\n";
  EXPECT_EQ(line_about(json),
            "JSON, " + human_size(json.size()) +
                ": array of 2 {id: integer}, values (from the file): 0/id: 7, 1/id: 8");
}

TEST(DescribeKind, ListingsByTheirEntries) {
  const std::string entry = "-rw-r--r-- 1 root root 4096 Nov 30 10:07 a b.txt\n";
  EXPECT_EQ(kind_of("total 472\ndrwxr-xr-x 5 root root 4096 Nov 30 10:07 .\n" + repeated(entry, 9)),
            "directory listing, 494 B, 11 lines, 9 entries");
  const std::string process = "root  32728 0.0 0.0 4712 2244 ? S 10:47 0:00 bash\n";
  EXPECT_EQ(
      kind_of("USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND\n" + repeated(process, 9)),
      "process list, 505 B, 10 lines, 9 processes");
}

TEST(DescribeKind, TraceByItsError) {
  EXPECT_EQ(
      kind_of("TypeError: x is not a function\n" + numbered("    at run (/a/b.js:", 9, ":7)")),
      "stack trace, 256 B, 10 lines, 9 frames, error (from the file): \"TypeError: x is not a "
      "function\"");
  const std::string python = "Traceback (most recent call last):\n" +
                             repeated("  File \"a.py\", line 7, in run\n    go()\n", 9) +
                             "ValueError: no number\n";
  EXPECT_NE(kind_of(python).find("9 frames, error (from the file): \"ValueError: no number\""),
            std::string::npos)
      << kind_of(python);
}

TEST(DescribeKind, MarkdownByItsHeadings) {
  EXPECT_EQ(
      kind_of("# The *title*\n\nWords.\n\n## One\n\n```sh\n# no heading\n```\n\n## Two\nWords.\n"),
      "Markdown, 69 B, 12 lines, 3 headings, title (from the file): \"The ∗title∗\"");
  EXPECT_TRUE(kind_of("---\nname: x\n---\n\n# Title\n\n- a\n- b\n").starts_with("Markdown, "));
  EXPECT_TRUE(kind_of("# Who is paid\n\ngithub: [a]\nko_fi: b\ncustom: c\n").starts_with("text, "));
  EXPECT_TRUE(kind_of("# a comment\n# and more\nset -e\nrun it\n").starts_with("text, "));
}

TEST(DescribeKind, SettingsByTheirKeys) {
  EXPECT_EQ(
      kind_of("# yes\napiVersion: v1\nkind: List\nitems:\n  - name: a\n    b: [1]\n  - name: c\n"),
      "YAML, 74 B, 7 lines, 3 keys (from the file): \"apiVersion\", \"kind\", \"items\"");
  EXPECT_EQ(kind_of("[package]\nname = \"a\"\nlist = [\n  \"x\",\n]\n\n[dependencies.b]\nv = 1\n"),
            "TOML, 63 B, 8 lines, 2 tables (from the file): \"package\", \"dependencies.b\"");
  EXPECT_TRUE(kind_of("Dear all: hello\n\nNote: this is prose\nYours: me\n").starts_with("text, "));
  EXPECT_TRUE(kind_of("[section]\nname = plain words\nother = more words\n").starts_with("text, "));
}

TEST(DescribeKind, SourceByWhatItDefines) {
  EXPECT_NE(
      kind_of("import { a } from \"./a.js\";\n\nexport interface B {\n  readonly c: string;\n}\n\n"
              "export async function run(): Promise<void> {\n  await a();\n}\n")
          .find("9 lines, 2 definitions (from the file): \"B\", \"run\""),
      std::string::npos);
  EXPECT_TRUE(kind_of("\"\"\"Words of all kinds, for people.\n\nMore: of them.\n\"\"\"\nimport "
                      "os\n\n\nclass A:\n"
                      "    def b(self):\n        pass\n\ndef run(x):\n    return x\n")
                  .ends_with("2 definitions (from the file): \"A\", \"run\""));
  EXPECT_TRUE(kind_of("#include <string>\n\nnamespace a {\n\nclass B;\n\nint run(int x) {\n  "
                      "return x;\n}\n\n}\n")
                  .starts_with("C++ source, "));
  EXPECT_NE(
      kind_of("package main\n\nimport \"fmt\"\n\nfunc (b *B) Run() {\n\tfmt.Println()\n}\n\nfunc "
              "main() {\n}\n")
          .find("10 lines, 2 definitions (from the file): \"Run\", \"main\""),
      std::string::npos);
  EXPECT_TRUE(kind_of("use std::io;\n\npub fn run() {\n}\n\nimpl A {\n    fn b() {}\n}\n")
                  .starts_with("Rust source, "));
  EXPECT_TRUE(kind_of("class was over\nimport duties rose\nfrom here on it was quiet\n")
                  .starts_with("text, "));
}

// A semicolon ends a statement.
TEST(DescribeKind, StatementsAreNoTable) {
  EXPECT_TRUE(kind_of(repeated("x = 1;\n", 9)).starts_with("text, "));
  EXPECT_TRUE(kind_of(repeated("\"item\",\n", 9)).starts_with("text, "));
  EXPECT_TRUE(kind_of("a;b\n" + repeated("1;2\n", 9)).starts_with("CSV, "));
}

// A value is whole, or named.
std::string values_of(std::string_view json) {
  Outline outline;
  outline.push(as_bytes(json));
  return outline.values();
}

TEST(DescribeValues, OfShortMembersOutsideOfArrays) {
  const std::string rows = "[{\"id\":1},{\"id\":2},{\"id\":3},{\"id\":4}]";
  EXPECT_EQ(values_of("{\"items\":" + rows +
                      ",\"next_cursor\":\"b2Zm_\\u0041\",\"has_more\":true,"
                      "\"total\":-4.5e2,\"o\":{\"p\":{\"q\":{\"r\":null,\"s\":{\"deep\":1}}}}}"),
            "/next_cursor: \"b2Zm_\\u0041\"\n/has_more: true\n/total: -4.5e2\n/o/p/q/r: null\n"
            "/o/p/q/s/deep: 1");
  EXPECT_EQ(values_of("{\"a/b~\":1,\"long\":\"" + std::string(513, 'x') + "\",\"short\":\"" +
                      std::string(510, 'y') + "\"}"),
            "/a~1b~0: 1\n/long: 515 B\n/short: \"" + std::string(510, 'y') + "\"");
  EXPECT_EQ(values_of("{\"a\":1}\n{\"a\":2}\n"), "");
  EXPECT_EQ(values_of("{\"a\":1"), "");
  // Far in and in the middle, they give way.
  std::string many = "{\"first\":1,\"rows\":{";
  for (int at = 0; at < 900; ++at) many += "\"k" + std::to_string(at) + "\":{\"v\":1,\"w\":2},";
  const std::string values = values_of(many + "\"last\":0},\"has_more\":true}");
  EXPECT_TRUE(values.starts_with("/first: 1\n/rows/k0/v: 1\n")) << values;
  EXPECT_TRUE(values.ends_with("\n/rows/last: 0\n/has_more: true")) << values;
  EXPECT_EQ(std::count(values.begin(), values.end(), '\n'), 15);
  EXPECT_EQ(
      values_of(
          "{\"data\":{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":{\"f\":1,\"g\":{\"h\":{\"i\":2}}}}}}}}}"),
      "/data/a/b/c/d/e/f: 1");
  // Together they are no page.
  std::string wide = "{";
  for (int at = 0; at < 9; ++at)
    wide += "\"m" + std::to_string(at) + "\":\"" + std::string(400, 'x') + "\",";
  const std::string told = values_of(wide + "\"z\":1}");
  EXPECT_LE(told.size(), 1'500u);
  EXPECT_NE(told.find("\n/m8: 402 B\n/z: 1"), std::string::npos) << told;
}

// One element or a few are no list of rows: errors, warnings, a page around the rows.
TEST(DescribeValues, OfListsOfFewElements) {
  EXPECT_EQ(values_of(R"({"errors":[{"code":5,"message":"no such field"}],"ok":false})"),
            "/errors/0/code: 5\n/errors/0/message: \"no such field\"\n/ok: false");
  EXPECT_EQ(values_of(R"({"warnings":["a","b","c"],"box":[1,2]})"),
            "/warnings/0: \"a\"\n/warnings/1: \"b\"\n/warnings/2: \"c\"");
  EXPECT_EQ(values_of(R"({"warnings":["a","b","c","d"]})"), "");
  EXPECT_EQ(values_of(R"([{"items":[1,2,3,4],"next":"x"}])"), "/0/next: \"x\"");
  EXPECT_EQ(values_of(R"({"rows":[{"tags":["a"],"id":1}],"n":1})"), "/rows/0/id: 1\n/n: 1");
}

// The last words of what is too long to be told.
TEST(DescribeValues, OfALongTextItsEnd) {
  const std::string log = repeated("warn: it goes on\\n", 400);
  EXPECT_EQ(values_of("{\"stderr\":\"" + log + "fatal: it broke\",\"code\":1}"),
            "/stderr: 7.0 KB, ending …it goes on\\n" + repeated("warn: it goes on\\n", 7) +
                "fatal: it broke\"\n/code: 1");
  const std::string unbroken = "{\"a\":\"" + std::string(9'000, 'x') + "\"}";
  EXPECT_EQ(values_of(unbroken), "/a: 8.8 KB");
}

}  // namespace sluice
