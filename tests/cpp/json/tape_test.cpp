#include "sluice/tape.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "config/row.h"
#include "sluice/segment.h"
#include "sluice/status.h"

namespace sluice {
namespace {

// --- statuses as callers see them ----------------------------------------------------------------

TEST(StatusTest, WritesJsonWithoutEmptyFields) {
  EXPECT_EQ(status_json({Code::json_syntax, 3, 14, "", "a comma was expected"}),
            R"({"code":"E_JSON_SYNTAX","message":"a comma was expected","line":3,"column":14})");
  EXPECT_EQ(status_json({Code::config_key, 0, 0, "resources.\"x\n", "unknown"}),
            R"({"code":"E_CONFIG_KEY","message":"unknown","path":"resources.\"x\n"})");
  EXPECT_EQ(status_json({}), R"({"code":"OK"})");
}

TEST(StatusTest, IsAlwaysJson) {
  const Status status{Code::misuse, 1, 2, "\xed\xa0\x80 \x01", "say \"please\"\\"};
  const std::string json = status_json(status);
  Tape tape;
  ASSERT_TRUE(Tape::parse(json, tape, 512, false).ok());
  EXPECT_EQ(tape.string(*tape.find(0, "path")), status.path);
  EXPECT_EQ(tape.string(*tape.find(0, "message")), status.message);
}

// --- the tape, and the markers that stand in its texts -------------------------------------------

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

// --- the tape against nlohmann_json: both take the same texts, and read the same values in them --

/// What a reader makes of a text.
struct Reading {
  enum class Verdict { taken, refused, out_of_range };
  Verdict verdict = Verdict::refused;
  std::string values;  ///< one line a value; texts with their length
};

void note_text(std::string& out, char kind, const std::string& text) {
  out += kind + std::to_string(text.size()) + ':' + text + '\n';
}

void note_number(std::string& out, const std::string& source) {
  out += "number " + (source == "-0" ? "0" : source) + '\n';
}

/// Writes down what nlohmann's parser reports.
class Oracle : public nlohmann::json_sax<nlohmann::json> {
 public:
  Reading reading;

  bool null() override { return line("null"); }
  bool boolean(bool value) override { return line(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return number(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& source) override { return number(source); }
  bool string(string_t& value) override { return text('s', value); }
  bool key(string_t& value) override { return text('k', value); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return line("{"); }
  bool end_object() override { return line("}"); }
  bool start_array(std::size_t) override { return line("["); }
  bool end_array() override { return line("]"); }

  /// It refuses what no double and no UTF-8 string can hold; the tape keeps such values as source.
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    constexpr int kNumberOutOfRange = 406;
    const std::string_view what = error.what();
    if (error.id == kNumberOutOfRange || what.find("surrogate") != what.npos)
      reading.verdict = Reading::Verdict::out_of_range;
    return false;
  }

 private:
  bool line(const char* value) {
    reading.values.append(value).append(1, '\n');
    return true;
  }
  bool number(const std::string& source) {
    note_number(reading.values, source);
    return true;
  }
  bool text(char kind, const std::string& value) {
    note_text(reading.values, kind, value);
    return true;
  }
};

Reading by_oracle(const std::string& json) {
  Oracle oracle;
  if (nlohmann::json::sax_parse(json, &oracle)) oracle.reading.verdict = Reading::Verdict::taken;
  return oracle.reading;
}

void note_value(const Tape& tape, size_t node, std::string& out);

void note_members(const Tape& tape, size_t container, std::string& out) {
  const bool object = tape[container].type == Type::object;
  out += object ? "{\n" : "[\n";
  for (size_t at = container + 1; at < tape[container].next; at = tape[at].next) {
    if (object) note_text(out, 'k', tape.string(at++));
    note_value(tape, at, out);
  }
  out += object ? "}\n" : "]\n";
}

void note_value(const Tape& tape, size_t node, std::string& out) {
  switch (tape[node].type) {
    case Type::string:
      return note_text(out, 's', tape.string(node));
    case Type::number:
      return note_number(out, std::string(tape.source(node)));
    case Type::array:
    case Type::object:
      return note_members(tape, node, out);
    case Type::null:
    case Type::boolean:
      out.append(tape.source(node)).append(1, '\n');
  }
}

Reading by_tape(const std::string& json) {
  Reading reading;
  Tape tape;
  if (!Tape::parse(json, tape, 512, false).ok()) return reading;
  reading.verdict = Reading::Verdict::taken;
  note_value(tape, 0, reading.values);
  return reading;
}

/// Compares the two; gives the oracle's verdict.
Reading::Verdict compare(const std::string& json) {
  const Reading oracle = by_oracle(json);
  if (oracle.verdict == Reading::Verdict::out_of_range) return oracle.verdict;
  const Reading ours = by_tape(json);
  EXPECT_EQ(ours.verdict == Reading::Verdict::taken, oracle.verdict == Reading::Verdict::taken)
      << json;
  if (ours.verdict == Reading::Verdict::taken) {
    EXPECT_EQ(ours.values, oracle.values) << json;
  }
  return oracle.verdict;
}

const std::vector<std::string>& corpus() {
  static const std::vector<std::string> texts = {
      "null",
      " [ ] ",
      R"({"a":1,"b":[true,false,null],"a":{"c":""}})",
      R"([0,-0,1,-1,10,1e5,1E+5,1e-05,0.5,-1.25,0e0,18446744073709551615,-9223372036854775808])",
      R"([123456789012345678901234567890,0.1000,1.0e3,99999999999999999999.5])",
      R"("\"\\\/\b\f\n\r\t\u0000\u001F\u00e9\uABCD\ud83d\ude00")",
      "[\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \x7f\xed\x9f\xbf\xee\x80\x80\"]",
      "{\"content\":[{\"type\":\"text\",\"text\":\"Here is\\nthe "
      "report\"},\r\n\t{\"type\":\"image\","
      "\"data\":\"iVBORw0KGgo=\",\"mimeType\":\"image/png\"}],\"isError\":false}",
      R"([[[[[[[[{"x":{"y":{"z":[]}}}]]]]]]]])",
      R"({"\u0061":1,"a b":"\\u0041","\n":"\/"})",
  };
  return texts;
}

/// A text with one to three small changes.
std::string mutated(std::string text, std::mt19937& random) {
  const auto below = [&](size_t bound) { return static_cast<size_t>(random() % bound); };
  // No NUL: nlohmann takes it for the end of the text.
  constexpr std::string_view kPieces =
      "{}[]:,\"\\/ "
      "\t\n\r0123456789-+.eEtrufalsn\x01\x1f\x7f\x80\xbf\xc0\xc3\xa9\xe2\xed\xa0\xf0\xf5";
  for (size_t change = below(3) + 1; change > 0; --change) {
    const size_t at = below(text.size() + 1);
    const char piece = kPieces[below(kPieces.size())];
    switch (below(4)) {
      case 0:
        text.insert(at, 1, piece);
        break;
      case 1:
        text.erase(at, below(3) + 1);
        break;
      case 2:
        text.replace(at, 1, 1, piece);
        break;
      default:
        text.insert(at, text.substr(below(text.size() + 1), below(8)));
    }
  }
  return text;
}

TEST(TapeOracleTest, ReadsTheCorpusAlike) {
  for (const std::string& text : corpus())
    EXPECT_EQ(compare(text), Reading::Verdict::taken) << text;
}

TEST(TapeOracleTest, ReadsEveryPrefixAlike) {
  for (const std::string& text : corpus())
    for (size_t size = 0; size < text.size(); ++size) compare(text.substr(0, size));
}

TEST(TapeOracleTest, ReadsMutatedTextsAlike) {
  std::mt19937 random(20240531);
  int taken = 0;
  int refused = 0;
  for (int round = 0; round < 60'000; ++round) {
    const std::string& text = corpus()[random() % corpus().size()];
    const Reading::Verdict verdict = compare(mutated(text, random));
    taken += verdict == Reading::Verdict::taken;
    refused += verdict == Reading::Verdict::refused;
    if (HasFailure()) return;
  }
  // Both happen often, or nothing was compared.
  EXPECT_GT(taken, 5'000);
  EXPECT_GT(refused, 5'000);
}

}  // namespace
}  // namespace sluice
