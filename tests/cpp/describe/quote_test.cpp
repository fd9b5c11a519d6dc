#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "sluice/describe.h"
#include "sluice/segment.h"
#include "sluice/tape.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace sluice {
namespace {

std::u32string code_points(std::string_view text) {
  std::u32string out;
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_length(text.data() + at, text.data() + text.size());
    if (length == 0) return U"not UTF-8";
    char32_t value = static_cast<uint8_t>(text[at]);
    if (length > 1) value &= 0x7fu >> length;
    for (size_t i = 1; i < length; ++i)
      value = value << 6 | (static_cast<uint8_t>(text[at + i]) & 0x3fu);
    out.push_back(value);
    at += length;
  }
  return out;
}

/// The value of a quote, read as the JSON string it claims to be.
std::string value_of(const std::string& quote) {
  Tape tape;
  const Status status = Tape::parse(quote, tape, 512, false);
  EXPECT_TRUE(status.ok() && tape.size() == 1 && tape[0].type == Type::string) << quote;
  return status.ok() ? tape.string(0) : std::string();
}

TEST(DescribeQuote, PlainTextStands) {
  EXPECT_EQ(quote_untrusted("Quarterly report, 2025: 12 % up"),
            "\"Quarterly report, 2025: 12 % up\"");
  EXPECT_EQ(quote_untrusted("日本語 – café 😀"), "\"日本語 – café 😀\"");
  EXPECT_EQ(quote_untrusted(""), "\"\"");
  EXPECT_EQ(quote_untrusted("say \"hi\" \\ bye"), R"("say \"hi\" \\ bye")");
}

TEST(DescribeQuote, WhiteSpaceBecomesOneSpace) {
  EXPECT_EQ(quote_untrusted(" a\tb\r\nc \xc2\xa0 d\xe2\x80\xa8 e\n"), "\"a b c d e\"");
}

TEST(DescribeQuote, WhatShowsNothingIsRemoved) {
  EXPECT_EQ(quote_untrusted("a\xe2\x80\xae"
                            "b\xe2\x81\xa6"
                            "c\xe2\x80\x8b"
                            "d\xef\xbb\xbf"
                            "e\xc2\xad"
                            "f"),
            "\"abcdef\"");
  EXPECT_EQ(quote_untrusted("a\xf3\xa0\x81\x81\xf3\xa0\x81\xbf"
                            "b\xef\xb8\x8f"
                            "c\xd8\x9c"
                            "d"),
            "\"abcd\"");
  EXPECT_EQ(quote_untrusted(std::string_view("a\0b\x07\x7f"
                                             "c\xc2\x80"
                                             "d",
                                             9)),
            "\"abcd\"");
}

TEST(DescribeQuote, AnsiSequencesGoWhole) {
  EXPECT_EQ(quote_untrusted("\x1b[1;31mred\x1b[0m"), "\"red\"");
  EXPECT_EQ(quote_untrusted("a\x1b]0;title\x07"
                            "b\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\c"),
            "\"ablinkc\"");
  EXPECT_EQ(quote_untrusted("a\xc2\x9b"
                            "2Jb\xc2\x9d"
                            "0;t\xc2\x9c"
                            "c"),
            "\"abc\"");
  EXPECT_EQ(quote_untrusted("a\x1bPq#0\x1b\\b\x1b(Bc\x1b"
                            "7d\x1b"),
            "\"abcd\"");
  EXPECT_EQ(quote_untrusted("a\x1b]never ends"), "\"a\"");
}

TEST(DescribeQuote, MarkersGoWhole) {
  std::string text = "before ";
  append_marker(text, 0x12);
  EXPECT_EQ(quote_untrusted(text + "after"), "\"before after\"");
  EXPECT_EQ(quote_untrusted("a\x01zz\x02"), "\"azz\"");
}

TEST(DescribeQuote, InvalidUtf8IsReplaced) {
  EXPECT_EQ(quote_untrusted("a\xff"
                            "b\xc3"),
            "\"a\xef\xbf\xbd"
            "b\xef\xbf\xbd\"");
  EXPECT_EQ(quote_untrusted("\xed\xa0\x80|"), "\"\xef\xbf\xbd∣\"");
  EXPECT_EQ(quote_untrusted("\xf0\x9f\x98x\xc0\xaf\xf5"),
            "\"\xef\xbf\xbdx\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

TEST(DescribeQuote, MarkupIsDefused) {
  EXPECT_EQ(quote_untrusted("`a` <b> [c](d) !e *f* _g_ #h |i| ~j~"),
            "\"'a' ‹b› ❲c❳❨d❩ ǃe ∗f∗ _g_ ♯h ∣i∣ ∼j∼\"");
  EXPECT_EQ(quote_untrusted("[c] (d) [e](f(g)) (h)"), "\"❲c❳ ❨d❩ ❲e❳❨f(g)) (h)\"");
  EXPECT_EQ(quote_untrusted("&lt;b&gt; &#60; R&D a & b"), "\"& lt;b& gt; &♯60; R& D a & b\"");
  EXPECT_EQ(quote_untrusted("［x］（http：／／y）＜script＞"), "\"❲x❳❨http:/ /y❩‹script›\"");
}

TEST(DescribeQuote, SignsOfProgramsStandWhereTheyOpenNothing) {
  for (const char* plain :
       {"a < b", "a > b", "x <= 1", "x >= 1", "n <10", "1 << 2", "8 >> 1", "a -> b", "a => b",
        "x <- c(1, 2)", "a <=> b", "main(int argc)", "f(g(x), (y))", ":( <3", "(a) (b)", "1 <"}) {
    EXPECT_EQ(quote_untrusted(plain), '"' + std::string(plain) + '"');
  }
}

TEST(DescribeQuote, TagsAndAddressesOpenNowhere) {
  for (const auto& [live, shown] : std::vector<std::pair<std::string, std::string>>{
           {"<script>", "‹script›"},
           {"</p>", "‹/p›"},
           {"<!-- x -->", "‹ǃ-- x --›"},
           {"<?php", "‹?php"},
           {"a<b", "a‹b"},
           {"<<b>", "<‹b›"},
           {"<|im_start|>", "‹∣im_start∣›"},
           {"<http://x>", "‹http:/ /x›"},
           {"<1@x.org>", "<1@x.org›"},
           {"<=a@x.org>", "<=a@x.org›"},
           {"<@x", "‹@x"},
           {"<_a@x.org>", "‹_a@x.org›"},
           {"<\xe2\x80\x8b"
            "b>",
            "‹b›"},
           {"<\x1b[1mb>", "‹b›"},
           {"＜ｂ＞", "‹b›"},
           {"< b>", "< b›"},
           {" > quoted", "› quoted"},
           {"-\xe2\x80\x8b->", "--›"},
           {"[a]\xe2\x80\x8b(b)", "❲a❳❨b❩"},
       }) {
    EXPECT_EQ(quote_untrusted(live), '"' + shown + '"');
  }
}

TEST(DescribeQuote, LinksAreBroken) {
  EXPECT_EQ(quote_untrusted("see https://evil.example/?q=1"), "\"see https:/ /evil.example/?q=1\"");
  EXPECT_EQ(quote_untrusted("artifact://a_1 ://// WwW.x.org"),
            "\"artifact:/ /a_1 :/ /// WwW .x.org\"");
  EXPECT_EQ(quote_untrusted("data:text/html JavaScript:alert`1` mailto:a@b"),
            "\"data :text/html JavaScript :alert'1' mailto :a@b\"");
  EXPECT_EQ(quote_untrusted("http:\xe2\x80\x8b/\x1b[0m/x ww\xc2\xadw.y java\x01script:z"),
            "\"http:/ /x www .y javascript :z\"");
}

TEST(DescribeQuote, AtMostLimitCodePoints) {
  EXPECT_EQ(quote_untrusted("abcdef", 6), "\"abcdef\"");
  EXPECT_EQ(quote_untrusted("abcdefg", 6), "\"abcde…\"");
  EXPECT_EQ(quote_untrusted("日本語日本語日", 6), "\"日本語日本…\"");
  EXPECT_EQ(quote_untrusted("abcdef\xe2\x80\x8b\n", 6), "\"abcdef\"");
  EXPECT_EQ(quote_untrusted("ab \"", 4), "\"ab…\"");
  EXPECT_EQ(quote_untrusted("abcd\"", 6), "\"abcd\\\"\"");
  EXPECT_EQ(quote_untrusted("abcde\"", 6), "\"abcde…\"");
  EXPECT_EQ(quote_untrusted("ab", 1), "\"…\"");
  EXPECT_EQ(quote_untrusted("a", 1), "\"a\"");
  EXPECT_EQ(quote_untrusted("a", 0), "\"\"");
  EXPECT_EQ(code_points(quote_untrusted(std::string(1'000, 'x'))).size(), 62u);
}

bool forbidden(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c ||
         (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfe00 && c <= 0xfe0f) ||
         (c >= 0xe0000 && c <= 0xe01ef) || (c >= 0xd800 && c <= 0xdfff) ||
         std::u32string_view(U"`[]!*#|~").find(c) != std::u32string_view::npos;
}

/// Whether a sign that may stand does so where it could open or close something.
bool harmful(const std::u32string& points) {
  const auto among = [](char32_t c, std::u32string_view some) { return some.find(c) != some.npos; };
  for (size_t at = 1; at + 1 < points.size(); ++at) {
    const char32_t last = points[at - 1];
    const char32_t next = points[at + 1];
    const char32_t before = at > 1 ? points[at - 2] : U' ';
    if (points[at] == '<' && !among(next, U" =<‹-0123456789…\"")) return true;
    if (points[at] == '>' && (!among(last, U" =->") || (last == '-' && before == '-'))) return true;
    if (points[at] == '(' && (last == U'❳' || (last == ' ' && before == U'❳'))) return true;
  }
  return false;
}

/// Text made of everything that is dangerous, and of noise.
std::string soup(std::mt19937& random) {
  static const std::vector<std::string> kPieces = {"http",
                                                   ":",
                                                   "/",
                                                   "//",
                                                   "www",
                                                   ".",
                                                   "data",
                                                   "javascript",
                                                   "&",
                                                   "lt;",
                                                   "\x1b[",
                                                   "1m",
                                                   "\x1b]",
                                                   "\x07",
                                                   "\x1b\\",
                                                   "\x01",
                                                   "000a",
                                                   "\x02",
                                                   "\"",
                                                   "\\",
                                                   "\xff",
                                                   "`",
                                                   "\xe2",
                                                   "\x80",
                                                   "\xae",
                                                   "\xc2\x9b",
                                                   "\xed\xa0",
                                                   "artifact",
                                                   "：",
                                                   " ",
                                                   "\n",
                                                   "<",
                                                   ">",
                                                   "(",
                                                   ")",
                                                   "]",
                                                   "-",
                                                   "=",
                                                   "1@x",
                                                   "＜",
                                                   "[a](b)",
                                                   "\xf3\xa0\x80\xa1",
                                                   "\xe2\x80\x8d",
                                                   "W",
                                                   "w",
                                                   "／"};
  std::string text;
  for (size_t i = random() % 60; i > 0; --i) {
    if (random() % 3 > 0) {
      text += kPieces[random() % kPieces.size()];
    } else {
      static constexpr uint32_t kPlanes[] = {0x80, 0x800, 0x3000, 0x10000, 0x110000};
      append_code_point(text, static_cast<uint32_t>(random() % kPlanes[random() % 5]));
    }
  }
  return text;
}

TEST(DescribeQuote, NothingForbiddenComesThrough) {
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    const std::string text = soup(random);
    const size_t limit = random() % 70;
    const std::string quote = quote_untrusted(text, limit);
    const std::u32string points = code_points(quote);
    ASSERT_LE(points.size(), limit + 2) << text;
    ASSERT_TRUE(std::none_of(points.begin(), points.end(), forbidden)) << quote;
    ASSERT_FALSE(harmful(points)) << quote;
    std::string low = value_of(quote);
    std::transform(low.begin(), low.end(), low.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
    for (const char* link : {"://", "www.", "data:", "javascript:", "&l"}) {
      ASSERT_EQ(low.find(link), std::string::npos) << quote;
    }
  }
}

TEST(DescribePreview, KeepsTextAndCutsAtTheLimit) {
  EXPECT_EQ(preview("a\tb\nc\r\nd\x1b[0m\xc2\x85"), "a\tb\nc\nd[0m");
  EXPECT_EQ(preview("日本語", 2), "日本");
  EXPECT_EQ(preview("a\xff\xed\xa0\x80z"), "a\xef\xbf\xbd\xef\xbf\xbdz");
  EXPECT_EQ(preview("abc", 0), "");
  EXPECT_EQ(preview(std::string(10'000, 'x')).size(), 500u);
  EXPECT_EQ(preview("<b>`[x](http://y)`"), "<b>`[x](http://y)`");
}

TEST(DescribePreview, NeverCutsAReferenceOrAMarker) {
  const std::string reference =
      "artifact://a_1a2b?type=application/pdf&size=12&form=base64url-nopad";
  std::string mark;
  append_marker(mark, 7);
  for (const std::string& unit : {reference, mark}) {
    const std::string text = "see " + unit + "\" end";
    for (size_t limit = 0; limit <= text.size() + 1; ++limit) {
      const std::string expected = limit < 4                 ? text.substr(0, limit)
                                   : limit < 4 + unit.size() ? "see "
                                                             : text.substr(0, limit);
      ASSERT_EQ(preview(text, limit), expected) << limit;
    }
  }
  EXPECT_EQ(preview("a\x01"
                    "00zz\x02"
                    "b\x02\x01"),
            "a00zzb");
  EXPECT_EQ(preview("artifact://" + std::string(5'000, 'x'), 20), "artifact://xxxxxxxxx");
}

TEST(DescribePreview, IsAPrefixForEveryLimit) {
  std::mt19937 random(11);
  for (int round = 0; round < 3'000; ++round) {
    const std::string text = soup(random);
    const std::string whole = preview(text, 1'000);
    for (size_t limit = 0; limit < 40; ++limit) {
      const std::string part = preview(text, limit);
      ASSERT_TRUE(whole.starts_with(part)) << text;
      ASSERT_LE(code_points(part).size(), limit);
      ASSERT_NE(code_points(part), U"not UTF-8");
    }
  }
}

TEST(DescribeSize, IsThatOfTheStoreOnceItIsTold) {
  Segment segment;
  segment.bytes = 77;
  segment.description = "CSV, 77 B, 20 rows, 1 column (from the file): \"a, 77 B\"";
  resize(segment, 7'377);
  EXPECT_EQ(segment.bytes, 7'377u);
  EXPECT_EQ(segment.description, "CSV, 7.2 KB, 20 rows, 1 column (from the file): \"a, 77 B\"");
}

TEST(DescribeSize, HumanSize) {
  EXPECT_EQ(human_size(0), "0 B");
  EXPECT_EQ(human_size(312), "312 B");
  EXPECT_EQ(human_size(1'023), "1023 B");
  EXPECT_EQ(human_size(1'024), "1.0 KB");
  EXPECT_EQ(human_size(1'536), "1.5 KB");
  EXPECT_EQ(human_size(2'201'231), "2.1 MB");
  EXPECT_EQ(human_size(1'048'575), "1.0 MB");
  EXPECT_EQ(human_size(1'503'238'554), "1.4 GB");
  EXPECT_EQ(human_size(UINT64_MAX), "16.0 EB");
}

TEST(DescribeSize, Grouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(12'000), "12,000");
  EXPECT_EQ(grouped(1'000'000), "1,000,000");
  EXPECT_EQ(grouped(UINT64_MAX), "18,446,744,073,709,551,615");
}

}  // namespace
}  // namespace sluice
