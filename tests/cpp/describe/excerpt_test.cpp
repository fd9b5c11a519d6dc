// What a text is shown by.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "gate/segment_log.h"
#include "sluice/describe.h"
#include "sluice/segment.h"
#include "sluice/tape.h"
#include "split_step.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace sluice {
namespace {

std::string repeated(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

std::string numbered(std::string_view before, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out.append(before).append(std::to_string(i)).append("\n");
  return out;
}

std::string excerpt_of(std::string_view text, bool of_error = false) {
  Subject subject;
  const std::string_view head = text.substr(0, kDescribeHead);
  subject.type = sniff(as_bytes(head.substr(0, kSniffHead))).value_or(type_of_mime("text/plain"));
  subject.text = true;
  subject.size_bytes = text.size();
  subject.head = as_bytes(head);
  subject.tail = as_bytes(text.substr(text.size() - std::min(text.size(), kExcerptTail)));
  tell_text(text, subject);
  Segment segment;
  add_excerpts(subject, segment);
  return of_error && !segment.error_excerpt.empty() ? segment.error_excerpt : segment.excerpt;
}

TEST(DescribeExcerpt, TextBeginsWithItsFirstLines) {
  EXPECT_EQ(excerpt_of("\xef\xbb\xbf\n\n# Title\r\n\r\n\r\n\tWords \n"), "# Title\n\n\tWords ");
  EXPECT_EQ(excerpt_of(numbered("line ", 900)).substr(0, 14), "line 0\nline 1\n");
  EXPECT_EQ(excerpt_of(""), "");
  EXPECT_EQ(excerpt_of(" \n\t\n"), "");
}

TEST(DescribeExcerpt, LongLineIsCutBehindAWord) {
  const std::string shown = excerpt_of(repeated("word ", 900));
  EXPECT_NE(shown.find(" word…\n…word word "), shown.npos) << shown;
  EXPECT_TRUE(shown.ends_with(" word ")) << shown;
  EXPECT_LE(count_chars(shown), kPreviewChars);
  EXPECT_EQ(count_chars(excerpt_of(repeated("日", 900))), kPreviewChars);
  EXPECT_EQ(excerpt_of(std::string(9'000, 'x')), std::string(499, 'x') + "…");
}

TEST(DescribeExcerpt, LogShowsBothEndsAndWhatWentWrong) {
  const std::string info = "2026-03-01 10:00:00 INFO step ";
  const std::string log = numbered(info, 2'000) + "2026-03-01 10:00:01 ERROR pool exhausted\n" +
                          numbered(info, 30) + "2026-03-01 10:00:02 INFO exit 1\n";
  const std::string shown = excerpt_of(log);
  EXPECT_TRUE(shown.starts_with(info + "0\n")) << shown;
  EXPECT_NE(shown.find("\n…\n2026-03-01 10:00:01 ERROR pool exhausted\n…\n"), shown.npos) << shown;
  EXPECT_TRUE(shown.ends_with("\n2026-03-01 10:00:02 INFO exit 1")) << shown;
  EXPECT_LE(count_chars(shown), kPreviewChars);
}

TEST(DescribeExcerpt, TracebackShowsItsError) {
  const std::string python = numbered("step ", 900) + "Traceback (most recent call last):\n" +
                             repeated("  File \"a.py\", line 7, in run\n    go()\n", 40) +
                             "ValueError: could not convert 'n/a'\n";
  EXPECT_TRUE(excerpt_of(python).ends_with("    go()\nValueError: could not convert 'n/a'"));
  const std::string java = "Exception in thread \"main\" a.BeanException: no bean\n" +
                           repeated("\tat a.B.c(B.java:1)\n", 60) +
                           "Caused by: java.net.ConnectException: Connection refused\n" +
                           repeated("\tat d.E.f(E.java:2)\n", 300) + "\t... 42 more\n";
  const std::string shown = excerpt_of(java);
  EXPECT_TRUE(shown.starts_with("Exception in thread \"main\" a.BeanException: no bean\n"))
      << shown;
  EXPECT_NE(shown.find("Caused by: java.net.ConnectException: Connection refused\n"), shown.npos);
  const std::string make = numbered("[1/9] Building ", 900) + "a.cpp:4:7: error: no such name\n" +
                           "  x\n1 error generated.\nninja: build stopped.\n";
  EXPECT_NE(excerpt_of(make).find("\na.cpp:4:7: error: no such name\n"), std::string::npos);
}

TEST(DescribeExcerpt, ErrorShowsItsEnd) {
  const std::string text = numbered("step ", 9'000) + "it broke\n";
  EXPECT_TRUE(excerpt_of(text).starts_with("step 0\nstep 1\n")) << excerpt_of(text);
  EXPECT_TRUE(excerpt_of(text, true).starts_with("step 0\n")) << excerpt_of(text, true);
  EXPECT_TRUE(excerpt_of(text, true).ends_with("\nit broke")) << excerpt_of(text, true);
}

TEST(DescribeExcerpt, EveryLongTextEndsWithItsLastLines) {
  const std::string more = "\nThere is more.\nAsk again with page 2.";
  const std::string notice = "There is more.\n\nAsk again with page 2.\n";
  for (const size_t lines : {40, 900, 9'000}) {
    const std::string shown = excerpt_of(numbered("one of many words ", lines) + "\n" + notice);
    EXPECT_TRUE(shown.ends_with(more)) << shown;
    EXPECT_TRUE(shown.starts_with("one of many words 0\n")) << shown;
    EXPECT_LE(count_chars(shown), kPreviewChars);
  }
  const std::string table = "id,name\n" + repeated("1,b\n", 9'000) + "# cut at row 9000\n";
  EXPECT_TRUE(excerpt_of(table).ends_with("\n…\n1,b\n1,b\n1,b\n# cut at row 9000"))
      << excerpt_of(table);
  const std::string rows = repeated("{\"id\":1}\n", 9'000) + "{\"has_more\":true}\n";
  EXPECT_TRUE(
      excerpt_of(rows).ends_with("\n…" + repeated("\n{\"id\":1}", 3) + "\n{\"has_more\":true}"));
  const std::string page = "<html><h1>A</h1><table>" + repeated("<tr><td>1</td></tr>\n", 9'000) +
                           "</table><p>Next: A9001</p><script>if (a < b) {}</script></html>";
  EXPECT_TRUE(excerpt_of(page).starts_with("# A\n…\n1\n")) << excerpt_of(page);
  EXPECT_TRUE(excerpt_of(page).ends_with("\nNext: A9001")) << excerpt_of(page);
  const std::string line = repeated("<td>1</td>", 900) + " and 4,102 rows more";
  EXPECT_TRUE(excerpt_of(line).ends_with(" and 4,102 rows more")) << excerpt_of(line);
  // What is all shown ends as it does, and an end that is an encoding shows nothing.
  EXPECT_EQ(excerpt_of("a\nb\nc\n"), "a\nb\nc");
  const std::string encoding = "MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ";
  EXPECT_TRUE(excerpt_of(numbered("a ", 900) + repeated(encoding, 3)).ends_with("\na 15"));
}

TEST(DescribeExcerpt, TextThatSpeaksOfErrorsIsNoLog) {
  const std::string page = "# Errors\n\n" + numbered("How it goes ", 400) + "Error: x\n";
  EXPECT_EQ(excerpt_of(page).substr(0, 24), "# Errors\n\nHow it goes 0\n");
  EXPECT_TRUE(excerpt_of(page).ends_with("\nHow it goes 399\nError: x")) << excerpt_of(page);
}

TEST(DescribeExcerpt, TableShowsItsHeaderAndFirstRows) {
  EXPECT_EQ(excerpt_of("id,name\n" + repeated("1,\"a, b\"\n", 900)),
            "id,name\n" + repeated("1,\"a, b\"\n", 5) + "…" + repeated("\n1,\"a, b\"", 4));
  EXPECT_EQ(excerpt_of("id\tname\n" + repeated("1\tb\n", 900)),
            "id\tname\n1\tb\n1\tb\n1\tb\n1\tb\n1\tb\n…\n1\tb\n1\tb\n1\tb\n1\tb");
}

TEST(DescribeExcerpt, JsonShowsItsFirstRows) {
  const std::string row = "{\n  \"id\": 1, \"o\": {\"a\": [1, 2]}\n}";
  const std::string shown = "{\"id\":1,\"o\":{\"a\":[1,2]}}";
  EXPECT_EQ(excerpt_of("[" + row + ", " + row + "]"), "[" + shown + ",\n" + shown + "]");
  EXPECT_EQ(excerpt_of("{\"n\": 2, \"rows\": [" + row + "," + row + "]}"),
            "{\"n\":2,\"rows\":[" + shown + ",\n" + shown + "]}");
  const std::string many = "[" + repeated(row + ",", 900) + row + "]";
  EXPECT_EQ(excerpt_of(many).substr(0, 6 * shown.size() + 12),
            "[" + repeated(shown + ",\n", 5) + shown + ",");
  const std::string text =
      excerpt_of("{\"text\":\"" + repeated("long words ", 900) + "\",\"n\":1}");
  EXPECT_TRUE(text.starts_with("{\"text\":\"" + repeated("long words ", 9).substr(0, 98) +
                               "…\",\"n\":1}\n…"))
      << text;
}

// What stands behind the rows, or is the last of them, says whether there are more.
TEST(DescribeExcerpt, JsonShowsItsEnd) {
  const std::string rows = repeated("{\"id\": 1, \"name\": \"a row\"},", 900);
  for (const std::string end : {"{\"_meta\":{\"next_cursor\":\"b2Zm\"}}]", "\"ERROR: disk full\"]",
                                "{\"id\":7}],\n  \"total\": 48211\n}\n"}) {
    const std::string shown = excerpt_of((end.ends_with(']') ? "[" : "{\"rows\":[") + rows + end);
    const std::string last = end.substr(end.rfind('"', end.size() - 4));
    EXPECT_TRUE(shown.ends_with(last.substr(0, last.find('\n'))) || shown.ends_with(" 48211 }"))
        << shown;
    EXPECT_NE(shown.find("\n…"), std::string::npos);
    EXPECT_LE(count_chars(shown), kPreviewChars);
  }
}

TEST(DescribeExcerpt, PageShowsItsTitleAndHeadings) {
  EXPECT_EQ(excerpt_of("<!doctype html><html><head><title>News &amp; &lt;more&gt;</title>"
                       "<STYLE>h1{}</STYLE><script>x='<h1>no</h1>'</script></head><body>"
                       "<!-- <h2>no</h2> --><h1 class=\"a>b\">One <em>two</em></h1><p>words</p>"
                       "<h3>Three</h3><h4>no</h4><h2></h2>"),
            "News & &lt;more&gt;\n# One two\n### Three\n…\nwords\nno");
  EXPECT_EQ(excerpt_of("<h1>News</h1>" + repeated("<p>words</p>\n", 900) +
                       "<p>last</p><!-- truncated: next page at /p/2 -->\n"),
            "# News\n…\nwords\nwords\nlast\n truncated: next page at /p/2 ");
  EXPECT_EQ(excerpt_of("<html><body><p>a < b and <b>c</b></p><p>d</p>"), "a < b and c\nd");
}

TEST(DescribeExcerpt, EncodingIsNeverCut) {
  const std::string line = "MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ";
  const std::string pem = "-----BEGIN CERTIFICATE-----\n" + repeated(line + "\n", 9) +
                          "R0NWcQ==\n-----END CERTIFICATE-----\n";
  EXPECT_EQ(excerpt_of(pem), "-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----");
  EXPECT_EQ(excerpt_of("key: " + line + " end"), "key: … end");
  EXPECT_EQ(excerpt_of(repeated(line, 90)), "");
  EXPECT_EQ(excerpt_of(repeated("0123456789abcdef", 90)), "");
  // A hash, a path and a word are none.
  for (const std::string& plain :
       {repeated("0123456789abcdef", 4), std::string("/usr/lib/python3/site-packages/Django/x1"),
        std::string("getUserByIdAndOrganizationNameForTheCurrentTenant")}) {
    EXPECT_EQ(excerpt_of(plain), plain);
  }
}

TEST(DescribeExcerpt, CutFallsOnAnEscapeAndAMarkerBoundary) {
  std::string marker;
  append_marker(marker, 3);
  for (const std::string& unit : {std::string("\\ud83d\\ude00"), std::string("\\\\"), marker}) {
    for (size_t before = 380; before < 500; ++before) {
      const std::string shown = excerpt_of(std::string(before, '.') + repeated(unit, 200));
      std::string rest = shown.substr(before, shown.size() - before - 3);
      ASSERT_EQ(rest, repeated(unit, rest.size() / unit.size())) << before;
      ASSERT_TRUE(shown.ends_with("…")) << before;
    }
  }
}

TEST(DescribeExcerpt, FileDoesNotSpeakLikeUs) {
  EXPECT_EQ(
      excerpt_of("[sluice] a\n[SLUICE] b\n[ sluice ] c\n［ｓｌｕｉｃｅ］ d\n[slu\u200bice] e\n"
                 "[slu\x1b[1mice] f"),
      "❲sluice] a\n❲SLUICE] b\n❲ sluice ] c\n❲ｓｌｕｉｃｅ］ d\n❲sluice] e\n❲sluice] f");
  EXPECT_EQ(excerpt_of("a\xe2\x80\xa8[sluice] b\xe2\x80\xae"
                       "c\xf3\xa0\x81\x81 \x1b[31mred\x1b[0m\x07"),
            "a ❲sluice] bc red");
}

TEST(DescribeExcerpt, OtherKindsHaveNone) {
  Subject subject;
  const std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>";
  subject.head = as_bytes(svg);
  subject.type = type_of_mime("image/svg+xml");
  subject.text = true;
  Segment segment;
  add_excerpts(subject, segment);
  EXPECT_EQ(segment.excerpt, "");
  subject.type = type_of_mime("application/pdf");
  subject.text = false;
  add_excerpts(subject, segment);
  EXPECT_EQ(segment.excerpt, "");
}

TEST(DescribeExcerpt, FirstLineOfADescriptionIsTakenAway) {
  EXPECT_EQ(without_first_line("text, 1 KB, 2 lines, first line (from the file): \"a\""),
            "text, 1 KB, 2 lines");
  EXPECT_EQ(without_first_line("text, 1 B, 1 line (from the file): \"a\""), "text, 1 B, 1 line");
  EXPECT_EQ(without_first_line("text, 1 KB, first and last line (from the file): \"a\", \"b\""),
            "text, 1 KB");
  EXPECT_EQ(without_first_line("JSON, 1 KB: object {a: integer}, values (from the file): a: 1"),
            "JSON, 1 KB: object {a: integer}");
  EXPECT_EQ(without_first_line("diff, 1 KB, 1 file (from the file): \"a\" +1 −2, last line "
                               "(from the file): \"b\""),
            "diff, 1 KB, 1 file (from the file): \"a\" +1 −2");
  for (const char* other :
       {"PDF, 1 KB", "CSV, 1 KB (from the file): \"a\", \"x, last line (from the file): \\\"\"",
        "CSV, 1 KB (from the file): \"a, first line\", \"b\""}) {
    EXPECT_EQ(without_first_line(other), other);
  }
}

// The gate keeps a head and a tail. What it shows of them is what is shown of the whole.
TEST(DescribeExcerpt, IsTheSameForAnyPieces) {
  std::mt19937 random(5);
  for (int round = 0; round < (testing::kSanitized ? 16 : 60); ++round) {
    std::string text = numbered("2026-03-01 10:00:00 INFO step ", 1 + random() % 6'000);
    if (round % 2 == 0) text += "ValueError: x\n";
    const GateOptions options;
    std::vector<std::string> shown;
    for (const size_t most : {size_t{1} << 20, size_t{70'000}, size_t{9'000}}) {
      gate::SegmentLog log(options);
      const uint32_t index = log.open(SegmentKind::text);
      for (size_t at = 0; at < text.size();) {
        const size_t piece = most > text.size() ? text.size() : 1 + random() % most;
        log.data(index, std::string_view(text).substr(at, piece));
        at += piece;
      }
      log.close(index);
      shown.push_back(log.segment(index).excerpt);
    }
    ASSERT_EQ(shown[0], excerpt_of(text));
    ASSERT_EQ(shown[1], shown[0]);
    ASSERT_EQ(shown[2], shown[0]);
  }
}

}  // namespace
}  // namespace sluice
