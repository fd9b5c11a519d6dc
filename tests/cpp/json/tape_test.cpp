// The tape, and the markers that stand in its texts.
#include "sluice/tape.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sluice/segment.h"

namespace sluice {
namespace {

// --- the tape --------------------------------------------------------------------------------

Status read(std::string_view text, size_t depth = 512, bool markers = true) {
  Tape tape;
  return Tape::parse(text, tape, depth, markers);
}

constexpr std::string_view kNul("\"a\0b\"", 5);
constexpr std::string_view kNulOutside("[1\0]", 4);

TEST(TapeTest, TakesValidTexts) {
  const std::vector<std::string_view> valid = {
      "null",
      "true",
      "false",
      " \t\r\n0 \t\r\n",
      "-0",
      "-0.0",
      "1e5",
      "1E+5",
      "1e-05",
      "0e0",
      "0.0e-0",
      "123456789012345678901234567890.5e+999999",
      "-1.25",
      "\"\"",
      "\"a\"",
      "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
      "\"\\u0000\\u001F\\uABCD\\uabcd\"",
      "\"\\ud83d\\ude00\"",
      "\"\\ud800\"",
      "\"\\udc00\\ud800\"",
      "\"\\ud800\\n\"",
      "\"\x7f\"",
      "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"",
      "\"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\"",
      "\"\xe2\x80\xa8\xe2\x80\xa9\"",
      "\"\xef\xbb\xbf\"",
      "[]",
      "[ ]",
      "[1]",
      "[1 , 2]",
      "[[],[[]]]",
      "[null,true,false]",
      "{}",
      "{ }",
      "{\"a\":1}",
      "{\"a\":1,\"a\":2}",
      "{\"\":{\"\":[]}}",
      "{ \"a\" : [ { } , \"b\" ] }",
      "[\"/*x*/\"]",
      "[0,-1,2.5]",
      "{\"\\u0061\":0}",
      "\n\n[\n1\n]\n",
  };
  for (const auto text : valid) EXPECT_TRUE(read(text).ok()) << text << ": " << read(text).message;
}

TEST(TapeTest, RefusesWhatIsNotJson) {
  const std::vector<std::string_view> invalid = {
      "nul1",
      "True",
      "nan",
      "NaN",
      "Infinity",
      "-Infinity",
      "undefined",
      "'a'",
      "a",
      "01",
      "-01",
      "00",
      "1.e",
      ".5",
      "+1",
      "1.x",
      "1e+x",
      "0x10",
      "1_000",
      "- 1",
      "1 2",
      "1,",
      "[1,]",
      "[,1]",
      "[1,,2]",
      "[1 2]",
      "[1}",
      "{1:2}",
      "{\"a\" 1}",
      "{\"a\":1,}",
      "{,}",
      "{\"a\"}",
      "{\"a\":}",
      "{\"a\":1]",
      "{a:1}",
      "{'a':1}",
      "]",
      "}",
      ":",
      ",",
      "[]]",
      "{}}",
      "[1]x",
      "// c\n1",
      "/* c */1",
      "1#",
      "\"\\x\"",
      "\"\\u12g4\"",
      "\"\\U1234\"",
      "\"\\'\"",
      "\"\t\"",
      "\"\n\"",
      "\"\x01\"",
      "\"\x1f\"",
      kNul,
      kNulOutside,
      "\xef\xbb\xbf{}",
      "[\x0c]",
      "\xa0"
      "1",
      "\"\xff\"",
      "\"\x80\"",
      "\"\xc0\xaf\"",
      "\"\xc1\xbf\"",
      "\"\xe0\x9f\xbf\"",
      "\"\xed\xa0\x80\"",
      "\"\xf0\x8f\xbf\xbf\"",
      "\"\xf4\x90\x80\x80\"",
      "\"\xf5\x80\x80\x80\"",
      "\"\xe2\x82\"",
      "\"\xc3\"",
      "[\"a\",\n\"b\"\n\"c\"]",
      "\"a\"\"b\"",
  };
  for (const auto text : invalid) {
    EXPECT_EQ(read(text).code, Code::json_syntax) << text;
    EXPECT_GT(read(text).line, 0u) << text;
    EXPECT_GT(read(text).column, 0u) << text;
    EXPECT_FALSE(read(text).message.empty()) << text;
  }
}

TEST(TapeTest, EveryProperPrefixOfAContainerEndsTooEarly) {
  const std::string text =
      R"({"k\u00e9y":[1.5e+3,-2,true,false,null,"x\ud83d\ude00",{"a":{}},[[]]],"é":"€😀"})";
  ASSERT_TRUE(read(text).ok());
  for (size_t size = 0; size < text.size(); ++size) {
    // A cut inside a multi-byte character is malformed UTF-8 and may be called so.
    const bool inside = (static_cast<uint8_t>(text[size]) & 0xC0) == 0x80;
    const Code code = read(text.substr(0, size)).code;
    EXPECT_TRUE(code == Code::json_end || (inside && code == Code::json_syntax)) << size;
  }
}

TEST(TapeTest, SaysWhere) {
  const Status comma =
      read("{\n  \"name\": \"\xe2\x82\xac\",\n  \"x\": [1, \"\xf0\x9f\x98\x80\" 2]\n}");
  EXPECT_EQ(comma.line, 3u);
  EXPECT_EQ(comma.column, 16u);
  EXPECT_EQ(comma.message, "a comma or ']' was expected here");
  const Status first = read("x");
  EXPECT_EQ(first.line, 1u);
  EXPECT_EQ(first.column, 1u);
  const Status end = read("[1,\n");
  EXPECT_EQ(end.code, Code::json_end);
  EXPECT_EQ(end.line, 2u);
  EXPECT_EQ(end.column, 1u);
  EXPECT_TRUE(read("[1]").ok());
  EXPECT_EQ(read("[1]").line, 0u);
}

TEST(TapeTest, BoundsDepth) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(read(nested(512)).ok());
  EXPECT_EQ(read(nested(513)).code, Code::json_depth);
  EXPECT_EQ(read(std::string(1'000'000, '[')).code, Code::json_depth);
  EXPECT_EQ(read(nested(513)).column, 513u);
  EXPECT_TRUE(read(nested(3), 3).ok());
  EXPECT_EQ(read(nested(4), 3).code, Code::json_depth);
  EXPECT_TRUE(read("1", 0).ok());
  EXPECT_EQ(read("{}", 0).code, Code::json_depth);
  EXPECT_TRUE(read(nested(100'000), 100'000).ok());
}

TEST(TapeTest, BoundsNumbers) {
  const std::string longest(65'536, '7');
  Tape tape;
  ASSERT_TRUE(Tape::parse(longest, tape).ok());
  EXPECT_EQ(tape.source(0), longest);
  const Status longer = read("[" + longest + "7]");
  EXPECT_EQ(longer.code, Code::json_number);
  EXPECT_EQ(longer.column, 2u);
}

TEST(TapeTest, AllowsMarkersInsideStringsOnly) {
  std::string marker;
  append_marker(marker, 0x2a);
  EXPECT_TRUE(read("[\"a" + marker + marker + "b\"]").ok());
  EXPECT_TRUE(read("{\"" + marker + "\":\"" + marker + "\"}").ok());
  EXPECT_EQ(read("\"" + marker + "\"", 512, false).code, Code::json_syntax);
  EXPECT_EQ(read("[" + marker + "]").code, Code::json_syntax);
  EXPECT_EQ(read("\"" + marker.substr(0, 5) + "\"").code, Code::json_syntax);
  EXPECT_EQ(read("\"\x02\"").code, Code::json_syntax);
}

TEST(TapeTest, LaysNodesInSourceOrder) {
  const std::string text = R"( {"a": [1, {"b": null}], "c": "d"} )";
  Tape tape;
  ASSERT_TRUE(Tape::parse(text, tape).ok());
  ASSERT_EQ(tape.size(), 9u);
  EXPECT_EQ(tape.text(), text);
  EXPECT_EQ(tape.source(0), R"({"a": [1, {"b": null}], "c": "d"})");
  EXPECT_EQ(tape.source(1), "\"a\"");
  EXPECT_EQ(tape.source(2), R"([1, {"b": null}])");
  EXPECT_EQ(tape[0].next, 9u);
  EXPECT_EQ(tape[2].next, 7u);
  EXPECT_EQ(tape[4].next, 7u);
  EXPECT_EQ(tape[3].next, 4u);
  EXPECT_EQ(tape[8].type, Type::string);
  EXPECT_EQ(tape.count(0), 2u);
  EXPECT_EQ(tape.count(2), 2u);
  EXPECT_EQ(tape.count(4), 1u);
  EXPECT_EQ(tape.count(8), 0u);
}

TEST(TapeTest, FindsTheLastOfDuplicates) {
  Tape tape;
  ASSERT_TRUE(Tape::parse(R"({"a":1,"b":{"a":2},"\u0061":3,"aa":4})", tape).ok());
  ASSERT_TRUE(tape.find(0, "a").has_value());
  EXPECT_EQ(tape.source(*tape.find(0, "a")), "3");
  EXPECT_EQ(tape.source(*tape.find(0, "aa")), "4");
  EXPECT_FALSE(tape.find(0, "").has_value());
  EXPECT_FALSE(tape.find(0, "A").has_value());
  EXPECT_FALSE(tape.find(2, "a").has_value());
  EXPECT_TRUE(tape.is_string(1, "a"));
  EXPECT_FALSE(tape.is_string(2, "1"));
}

TEST(TapeTest, ForgetsAFailedReading) {
  Tape tape;
  ASSERT_TRUE(Tape::parse("[1,2]", tape).ok());
  ASSERT_FALSE(Tape::parse("[1,2", tape).ok());
  EXPECT_EQ(tape.size(), 0u);
}

// --- markers ---------------------------------------------------------------------------------

TEST(MarkerTest, RoundTripsEveryIndex) {
  for (uint32_t index = 0; index <= 0xFFFF; ++index) {
    std::string text = "ab";
    append_marker(text, index);
    ASSERT_EQ(text.size(), 2 + kMarkerBytes);
    ASSERT_EQ(marker_at(text, 2), static_cast<int32_t>(index));
  }
}

TEST(MarkerTest, StandsAsDocumented) {
  std::string text;
  append_marker(text, 0x00af);
  EXPECT_EQ(text, std::string("\x01") + "00af" + "\x02");
}

TEST(MarkerTest, TakesNothingElse) {
  const std::string open = "\x01", close = "\x02";
  for (const std::string& text :
       {std::string(), open, open + "00a" + close, open + "00aF" + close, open + "00ag" + close,
        open + "00af" + open, "x00af" + close, open + "00af"})
    EXPECT_EQ(marker_at(text, 0), -1);
  std::string text;
  append_marker(text, 1);
  EXPECT_EQ(marker_at(text, 1), -1);
  EXPECT_EQ(marker_at(text, 6), -1);
  EXPECT_EQ(marker_at(text, 7), -1);
  EXPECT_EQ(marker_at(text, std::string::npos), -1);
}

}  // namespace
}  // namespace sluice
