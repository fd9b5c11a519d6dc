// Escapes, and the repair of text that is not UTF-8.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "sluice/describe.h"
#include "sluice/segment.h"
#include "sluice/tape.h"
#include "text/utf8.h"

namespace sluice {
namespace {

// --- escapes ---------------------------------------------------------------------------------

std::string value_of(const std::string& source) {
  Tape tape;
  const Status status = Tape::parse(source, tape);
  return status.ok() ? tape.string(0) : "failed: " + status.message;
}

std::string escaped(std::string_view text, bool markers = false) {
  std::string out;
  append_escaped(out, text, markers);
  return out;
}

TEST(EscapeTest, UndoesEveryEscape) {
  EXPECT_EQ(value_of(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(value_of(R"("\u0041\u00e9\u20AC")"), "A\xc3\xa9\xe2\x82\xac");
  EXPECT_EQ(value_of(R"("a\u0000b")"), std::string("a\0b", 3));
  EXPECT_EQ(value_of(R"("\\u0041")"), "\\u0041");
}

// Text is copied in words of eight bytes: an escape may stand anywhere in one, and at either end.
TEST(EscapeTest, UndoesEscapesWhereverTheyStand) {
  const std::pair<std::string, std::string> escapes[] = {{R"(\")", "\""},
                                                         {R"(\\)", "\\"},
                                                         {R"(\u00e9)", "\xc3\xa9"},
                                                         {R"(\ud83d\ude00)", "\xf0\x9f\x98\x80"}};
  for (const auto& [source, value] : escapes) {
    for (size_t before = 0; before < 20; ++before) {
      for (size_t behind = 0; behind < 20; ++behind) {
        const std::string left(before, 'a');
        const std::string right(behind, 'Z');
        EXPECT_EQ(value_of('"' + left + source + right + '"'), left + value + right);
        EXPECT_EQ(value_of('"' + left + source + source + right + source + '"'),
                  left + value + value + right + value);
      }
    }
  }
}

TEST(EscapeTest, CombinesPairsAndKeepsLoneSurrogates) {
  EXPECT_EQ(value_of(R"("\ud83d\ude00")"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(value_of(R"("\uD83D\uDE00")"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(value_of(R"("\ud83d")"), "\xed\xa0\xbd");
  EXPECT_EQ(value_of(R"("\ude00x")"), "\xed\xb8\x80x");
  EXPECT_EQ(value_of(R"("\ud83d\ud83d\ude00")"), "\xed\xa0\xbd\xf0\x9f\x98\x80");
  EXPECT_EQ(value_of(R"("\ud83d\n\ude00")"), "\xed\xa0\xbd\n\xed\xb8\x80");
  EXPECT_EQ(value_of(R"("\ud83d\u0041")"),
            "\xed\xa0\xbd"
            "A");
}

TEST(EscapeTest, EscapesWhatJsonAsksFor) {
  EXPECT_EQ(escaped("a\"b\\c/d"), R"(a\"b\\c/d)");
  EXPECT_EQ(escaped("\b\f\n\r\t\x01\x1f\x7f"), "\\b\\f\\n\\r\\t\\u0001\\u001f\x7f");
  EXPECT_EQ(escaped(std::string("\0", 1)), "\\u0000");
  EXPECT_EQ(escaped("\xed\xa0\xbd\xed\x9f\xbf\xed\xb8\x80"), "\\ud83d\xed\x9f\xbf\\ude00");
  EXPECT_EQ(escaped("\xf0\x9f\x98\x80 \xe2\x80\xa8"), "\xf0\x9f\x98\x80 \xe2\x80\xa8");
  EXPECT_EQ(escaped(""), "");
}

TEST(EscapeTest, KeepsMarkersOnRequest) {
  std::string marker;
  append_marker(marker, 7);
  EXPECT_EQ(escaped("a" + marker + "\x01", true), "a" + marker + "\\u0001");
  EXPECT_EQ(escaped(marker), "\\u00010007\\u0002");
}

TEST(EscapeTest, RoundTripsAnyText) {
  std::mt19937 random(4627);
  const std::string pieces[] = {
      "a",    "\"",   "\\",           "\n",           std::string("\0", 1),
      "\x1f", "\x7f", "\xc3\xa9",     "\xe2\x82\xac", "\xf0\x9f\x98\x80",
      "/",    "u00",  "\xed\x9f\xbf", "\xed\xa0\xbd", "plain text of some length"};
  for (int round = 0; round < 2'000; ++round) {
    std::string text;
    for (auto left = random() % 40; left > 0; --left) text += pieces[random() % std::size(pieces)];
    const std::string source = '"' + escaped(text) + '"';
    ASSERT_EQ(value_of(source), text) << source;
    ASSERT_EQ(escaped(value_of(source)), escaped(text));
  }
}

TEST(EscapeTest, ManySurrogatesTakeLinearTime) {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += "\xed\xa0\xbd";
  EXPECT_EQ(escaped(text).size(), 6'000'000u);
}

TEST(EscapeTest, CountsCodePoints) {
  EXPECT_EQ(count_chars(""), 0u);
  EXPECT_EQ(count_chars("abc"), 3u);
  const std::string three = "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
  for (size_t before = 0; before < 20; ++before) {
    EXPECT_EQ(count_chars(std::string(before, 'a') + three + "\x7f" + three), before + 7);
  }
}

TEST(EscapeTest, AppliesSplicesInOrder) {
  EXPECT_EQ(apply_splices("0123456789", {}), "0123456789");
  EXPECT_EQ(apply_splices("0123456789", {{8, 10, "Z"}, {0, 1, ""}, {4, 6, "four"}}), "123four67Z");
  EXPECT_EQ(apply_splices("01", {{1, 2, "b"}, {1, 1, "a"}, {2, 2, "c"}}), "0abc");
  EXPECT_EQ(apply_splices("", {{0, 0, "x"}}), "x");
}

TEST(EscapeTest, IgnoresSplicesThatDoNotFit) {
  EXPECT_EQ(apply_splices("0123", {{1, 3, "x"}, {2, 4, "y"}, {3, 9, "z"}}), "0x3");
}

// --- repair ----------------------------------------------------------------------------------

std::string repaired(std::string text) {
  replace_malformed(text);
  return text;
}

TEST(Repair, LeavesWellFormedTextAlone) {
  for (const std::string text : {"", "abc", "na\xC3\xAFve \xE2\x82\xAC \xF0\x9F\xA6\x8A"})
    EXPECT_EQ(repaired(text), text);
}

TEST(Repair, ReplacesEachByteThatBeginsNothing) {
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(repaired("a\xFFz"), "a" + mark + "z");
  EXPECT_EQ(repaired("\xC3"), mark);
  EXPECT_EQ(repaired("\xE2\x82"), mark + mark);
  EXPECT_EQ(repaired("\xC0\x80"), mark + mark);
  EXPECT_EQ(repaired("\xED\xA0\x80"), mark + mark + mark) << "a surrogate";
  EXPECT_EQ(repaired("\x80\xC3\xA9"), mark + "\xC3\xA9");
}

TEST(IsText, TellsTextFromBinaryByAHead) {
  EXPECT_TRUE(is_text("plain\ttext\r\n"));
  EXPECT_TRUE(is_text("cut inside \xF0\x9F\xA6"));
  EXPECT_FALSE(is_text(""));
  EXPECT_FALSE(is_text(std::string_view("nul\0byte", 8)));
  EXPECT_TRUE(is_text("\x1B[31mred\x1B[0m")) << "colours of a terminal";
  EXPECT_FALSE(is_text("latin\xE9 text"));
  EXPECT_FALSE(is_text("read \xEF\xBF\xBD wrongly"));
}

TEST(IsText, CountsWhatADecoderLeftOfBinary) {
  EXPECT_EQ(count_damage("a\xEF\xBF\xBD\x01z\n"), 2u);
  EXPECT_EQ(count_damage("\xEF\xBC\x81"), 0u);
}

// Eight bytes are looked at together: what counts may stand anywhere in them, and in two of them.
TEST(IsText, CountsDamageWhereverItStands) {
  for (const std::string damage : {"\xEF\xBF\xBD", "\xC2\x80", "\x01", "\x1F"}) {
    for (size_t before = 0; before < 20; ++before) {
      for (const std::string beside : {"a", "\n", "\xC3\xA9", "\xEF\xBC\x81", "\xC2\xA0"}) {
        std::string text = std::string(before, 'a') + damage + beside;
        EXPECT_EQ(count_damage(text), 1u) << text;
        text += std::string(before, 'z') + damage + beside + damage;
        EXPECT_EQ(count_damage(text), 3u) << text;
      }
    }
  }
}

}  // namespace
}  // namespace sluice
