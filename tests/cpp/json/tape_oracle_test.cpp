// The tape against nlohmann_json: both take the same texts, and read the same values in them.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "config/row.h"
#include "sluice/tape.h"

namespace sluice {
namespace {

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
