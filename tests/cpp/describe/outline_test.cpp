#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "sluice/describe.h"
#include "sluice/segment.h"
#include "sluice/tape.h"
#include "split_step.h"

namespace sluice {
namespace {

std::string outline_of(std::string_view text) {
  Outline outline;
  outline.push(as_bytes(text));
  return outline.finish();
}

std::string outline_in_blocks(std::string_view text, size_t block, bool valid = false) {
  Outline outline(valid);
  for (size_t at = 0; at < text.size(); at += block) outline.push(as_bytes(text.substr(at, block)));
  return outline.finish();
}

std::string rows(size_t count) {
  std::string text = "[";
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) text += ",";
    text += R"({"id":)" + std::to_string(i) + R"(,"name":"Row \")" + std::to_string(i) +
            R"(\"","v":)" + std::to_string(i) + ".25}";
  }
  return text + "]";
}

/// Objects without escapes, more than are sampled, with brackets in their strings and out of them.
std::string nested_rows() {
  std::string text = "[";
  for (size_t i = 0; i < 150; ++i) {
    if (i > 0) text += ",";
    text += R"({"a":[{"b":"]}"},[[]]],"c":")" + std::string(i, '{') + R"(","d":{"e":[{}]}})";
  }
  return text + "]";
}

std::string marker(uint32_t index) {
  std::string text;
  append_marker(text, index);
  return text;
}

TEST(Outline, ArraysOfObjects) {
  EXPECT_EQ(outline_of(rows(12'000)), "array of 12,000 {id: integer, name: string, v: number}");
  EXPECT_EQ(outline_of(R"([{"a":1},{"b":null,"a":"x"}])"),
            "array of 2 {a: integer|string, b: null}");
  EXPECT_EQ(outline_of(R"([{"a":{"deep":[1]}},{"a":[{"b":1}]}])"), "array of 2 {a: array|object}");
  EXPECT_EQ(outline_of("[{},{}]"), "array of 2 {}");
  EXPECT_EQ(outline_of(R"([{"a":1},null])"), "array of 2 {a: integer}|null");
}

TEST(Outline, ArraysOfOtherThings) {
  EXPECT_EQ(outline_of("[]"), "empty array");
  EXPECT_EQ(outline_of(" [ 1 , -2 , 0 ] "), "array of 3 integer");
  EXPECT_EQ(outline_of("[1,2.5]"), "array of 2 number");
  EXPECT_EQ(outline_of("[1e3]"), "array of 1 number");
  EXPECT_EQ(outline_of(R"([null,"a"])"), "array of 2 string|null");
  EXPECT_EQ(outline_of("[[1],[[2]],[]]"), "array of 3 array");
  EXPECT_EQ(outline_of(R"([1,"a",true,null,{}])"), "array of 5 (mixed)");
  EXPECT_EQ(outline_of("[false,true]"), "array of 2 boolean");
}

TEST(Outline, ElementTypesAreThoseOfAllElements) {
  std::string text = "[";
  for (int i = 0; i < 300; ++i) text += "1,";
  EXPECT_EQ(outline_of(text + "\"x\"]"), "array of 301 integer|string");
}

TEST(Outline, KeysAreThoseOfTheFirstHundredElements) {
  const auto late_key = [](size_t before) {
    std::string text = "[";
    for (size_t i = 0; i < before; ++i) text += R"({"a":1},)";
    return outline_of(text + R"({"late":1}])");
  };
  EXPECT_EQ(late_key(99), "array of 100 {a: integer, late: integer}");
  EXPECT_EQ(late_key(100), "array of 101 {a: integer}");
}

TEST(Outline, Objects) {
  EXPECT_EQ(outline_of("{}"), "object {}");
  EXPECT_EQ(outline_of(R"({"rows":[{"a":1},{"a":2}],"total":2})"),
            "object {rows: array of 2 {a: integer}, total: integer}");
  EXPECT_EQ(outline_of(R"({"o":{"x":[1,{"y":2}]},"e":[],"l":[[1]],"n":null})"),
            "object {o: object, e: empty array, l: array of 1 array, n: null}");
  EXPECT_EQ(outline_of(R"({"a":1,"a":"x"})"), "object {a: integer|string}");
  EXPECT_EQ(outline_of(R"({"a":[1],"a":["x","y"]})"), "object {a: array of 2 string}");
}

TEST(Outline, ManyKeysAreCounted) {
  std::string members;
  for (int i = 0; i < 20; ++i) {
    members += (i > 0 ? ",\"k" : "\"k") + std::to_string(i) + "\":1";
  }
  const std::string shown =
      "{k0: integer, k1: integer, k2: integer, k3: integer, k4: integer, k5: integer, "
      "k6: integer, k7: integer, … 12 more}";
  EXPECT_EQ(outline_of("{" + members + "}"), "object " + shown);
  EXPECT_EQ(outline_of("[{" + members + "},{\"k1\":2}]"), "array of 2 " + shown);
}

TEST(Outline, KeysThatAreNoIdentifiersAreQuoted) {
  EXPECT_EQ(outline_of(R"({"a b":1,"":2,"user-id":3,"9":4})"),
            R"(object {"a b": integer, "": integer, user-id: integer, "9": integer})");
  EXPECT_EQ(outline_of(R"j({"\u0069d":1,"[x](http://y)":2})j"),
            "object {id: integer, \"❲x❳❨http:/ /y❩\": integer}");
  EXPECT_EQ(outline_of(R"({"caf\u00e9":1,"\ud83d\ude00":1,"\ud83d":1})"),
            "object {\"café\": integer, \"😀\": integer, \"\xef\xbf\xbd\": integer}");
  EXPECT_EQ(outline_of(R"({"1":1,"2":1,"3":1,"4":1,"5":1,"6":1,"seven":1})"),
            R"(object {"1": integer, "2": integer, "3": integer, "4": integer, "5": integer, )"
            "seven: integer, … 1 more}");
}

TEST(Outline, LongKeysAreCut) {
  const std::string name(300, 'k');
  EXPECT_EQ(outline_of("{\"" + name + "\":1}"), "object {" + std::string(39, 'k') + "…: integer}");
  const std::string cut_escape = "{\"" + std::string(253, ' ') + "x\\u0041y\":1}";
  EXPECT_EQ(outline_of(cut_escape), "object {\"x\": integer}");
  // Equal in the bytes that are kept, different behind them: two keys.
  EXPECT_EQ(
      outline_of("{\"" + name + "a\":1,\"" + name + "b\":\"\"}"),
      "object {" + std::string(39, 'k') + "…: integer, " + std::string(39, 'k') + "…: string}");
}

TEST(Outline, IsAtMostThreeHundredCharacters) {
  const auto wide = [](const std::string& inner) {
    std::string text = "{";
    for (int i = 0; i < 30; ++i) {
      text += (i > 0 ? ",\"" : "\"") + std::string(60, static_cast<char>('a' + i % 26)) +
              std::to_string(i) + "\":" + inner;
    }
    return text + "}";
  };
  for (const std::string& text :
       {wide("1"), "[" + wide("1") + "]", wide("[" + wide("1.5") + ",null,\"\"]"),
        "[" + wide("[]") + "," + wide("\"\"") + "," + wide("null") + "]"}) {
    const std::string outline = outline_of(text);
    EXPECT_LE(count_chars(outline), 300u);
    EXPECT_GT(count_chars(outline), 150u) << outline;
    EXPECT_NE(outline.find(" more}"), std::string::npos) << outline;
  }
}

TEST(Outline, NumbersOfPythonAreTold) {
  EXPECT_EQ(outline_of("[NaN, -Infinity, Infinity, 1]"),
            "array of 4 number, with NaN or Infinity, which JSON does not have");
}

TEST(Outline, WhatIsCutOffIsToldByItsWholeElements) {
  EXPECT_EQ(outline_of(R"([{"id":1},{"id":2},{"id":3)"), "array of 2 {id: integer}, cut off");
  EXPECT_EQ(outline_of(R"([{"id":1},{"id":2},)"), "array of 2 {id: integer}, cut off");
  EXPECT_EQ(outline_of(R"(["a","b","c... (truncated))"), "array of 2 string, cut off");
  EXPECT_EQ(outline_of(R"({"rows":[[1],[2],[)"), "object {rows: array of 2 array}, cut off");
  EXPECT_EQ(outline_of(R"({"total":9,"rows":[1,2],"next)"),
            "object {total: integer, rows: array of 2 integer}, cut off");
}

TEST(Outline, ALineThatWasCutIsOneOfWords) {
  const std::string rows = "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n{\"id\":4}\n";
  for (const std::string end : {"{\"id", "{\"id... [truncated]", "{\"id\":... [truncated]",
                                "{\"i\n", "{\"id... [truncated]\n", "{\"id\":5,"}) {
    for (size_t at = 0; at < rows.size() + end.size(); ++at) {
      Outline outline;
      outline.push(as_bytes((rows + end).substr(0, at)));
      outline.push(as_bytes((rows + end).substr(at)));
      EXPECT_EQ(outline.finish(), "4 lines of {id: integer}") << end;
      EXPECT_EQ(outline.below(), 1u) << end << " at " << at;
    }
  }
  EXPECT_EQ(outline_of(rows + "{\"id... [truncated]\n" + std::string(3'000, '.')), "");
}

TEST(Outline, WhatIsNoJsonHasNone) {
  for (const char* text : {"",
                           " ",
                           "1",
                           "\"x\"",
                           "true",
                           "null",
                           "hello",
                           "[",
                           "{",
                           "[1",
                           "[1,]",
                           "[,1]",
                           "[1 2]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{a:1}",
                           "{'a':1}",
                           "[1]x",
                           "[1][2]",
                           "[}",
                           "{]",
                           "[1}",
                           "{\"a\":1]",
                           "[01]",
                           "[-]",
                           "[+1]",
                           "[.5]",
                           "[1.]",
                           "[1e]",
                           "[1e+]",
                           "[1.e2]",
                           "[--1]",
                           "[0x1]",
                           "[tru]",
                           "[truee]",
                           "[nul]",
                           "[True]",
                           "[nan]",
                           "[-NaN]",
                           "[Inf]",
                           "[Infinit]",
                           "[\"a]",
                           "[\"\\x\"]",
                           "[\"\\u12g4\"]",
                           "[\"\\u12\"]",
                           "[\"a\nb\"]",
                           "[\"a\tb\"]",
                           "// c\n[1]",
                           "[1]//",
                           "\xef\xbb[1]",
                           "\xef[1]",
                           "[1]\x01",
                           "{\"a\":1 \"b\":2}",
                           "{\"a\",1}",
                           "{1:2}",
                           "[1:2]"}) {
    EXPECT_EQ(outline_of(text), "") << text;
  }
}

TEST(Outline, ToleratesMarkersAndAByteOrderMark) {
  EXPECT_EQ(outline_of("{\"a\":\"" + marker(3) + "\",\"b\":\"x" + marker(4) + "y\"}"),
            "object {a: string, b: string}");
  EXPECT_EQ(outline_of("\xef\xbb\xbf[1]"), "array of 1 integer");
  EXPECT_EQ(outline_of("{\"a" + marker(3) + "\":1}"), "object {\"a\": integer}");
}

TEST(Outline, DocumentsOnLines) {
  EXPECT_EQ(outline_of("{\"id\":1,\"v\":1.5}\n{\"id\":2,\"v\":null}\n"),
            "2 lines of {id: integer, v: number|null}");
  EXPECT_EQ(outline_of("{\"a\":[{\"b\":1}]}\r\n\n {\"c\":{}}"), "2 lines of {a: array, c: object}");
  EXPECT_EQ(outline_of("[1,2]\n[3]\n{\"a\":1}"), "3 lines of array|{a: integer}");
  std::string many;
  for (int i = 0; i < 1'200; ++i) many += "{\"id\":" + std::to_string(i) + "}\n";
  EXPECT_EQ(outline_of(many), "1,200 lines of {id: integer}");
}

TEST(Outline, DocumentsThatAreNotOnLinesHaveNone) {
  for (const char* text : {"{}{}", "{} {}", "{\n}\n{}", "{}\n{\n}\n{}", "{}\n1", "{}\n{}\nx",
                           "{}\n{", "1\n2\n", "{}\n,{}"}) {
    EXPECT_EQ(outline_of(text), "") << text;
  }
  EXPECT_EQ(outline_of("{\n}\n"), "object {}");
}

TEST(Outline, WordsStandBehindDocumentsOnLines) {
  const std::string lines = "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n";
  for (const char* words :
       {"[truncated: 3 of 9]", "\n\nAsk for page 2.\n```\n", "x\n", "{\"a\":x}"}) {
    EXPECT_EQ(outline_of(lines + words), "3 lines of {a: integer}") << words;
  }
  EXPECT_EQ(outline_of(lines + std::string(3'000, 'x')), "") << "too many words";
  for (size_t at = 0; at <= lines.size(); ++at) {
    const std::string text = lines + "\nAsk for page 2.\n\nx\n";
    Outline outline;
    outline.push(as_bytes(std::string_view(text).substr(0, at)));
    outline.push(as_bytes(std::string_view(text).substr(at)));
    EXPECT_EQ(outline.below(), 4) << at;
  }
}

TEST(Outline, OneLineIsADocument) {
  Outline outline;
  outline.push(as_bytes("{\"a\":1}\n"));
  EXPECT_EQ(outline.finish(), "object {a: integer}");
  EXPECT_FALSE(outline.is_lines());
  outline.push(as_bytes("{\"a\":\"\"}"));
  EXPECT_EQ(outline.finish(), "2 lines of {a: integer|string}");
  EXPECT_TRUE(outline.is_lines());
}

TEST(Outline, DepthIsBounded) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(outline_of(nested(512)), "array of 1 array");
  EXPECT_EQ(outline_of(nested(100'000)), "array of 1 array");
  EXPECT_EQ(outline_of(nested(1'000'001)), "");
  EXPECT_EQ(outline_of(std::string(100, '[') + "{" + std::string(99, ']')), "");
  std::string mixed;
  for (int i = 0; i < 200; ++i) mixed += "[{\"a\":";
  mixed += "1";
  for (int i = 0; i < 200; ++i) mixed += "}]";
  EXPECT_EQ(outline_of(mixed), "array of 1 {a: array}");
  std::swap(mixed[mixed.size() - 150], mixed[mixed.size() - 151]);
  EXPECT_EQ(outline_of(mixed), "");
}

TEST(Outline, MovesAndAnswersAgain) {
  Outline first;
  first.push(as_bytes("[1,"));
  Outline second = std::move(first);
  second.push(as_bytes("2]"));
  EXPECT_EQ(second.finish(), "array of 2 integer");
  EXPECT_EQ(second.finish(), "array of 2 integer");
  second.push(as_bytes(" "));
  EXPECT_EQ(second.finish(), "array of 2 integer");
  second.push(as_bytes("1"));
  EXPECT_EQ(second.finish(), "");
  EXPECT_EQ(Outline().finish(), "");
}

const std::vector<std::string>& documents() {
  static const std::vector<std::string> kDocuments = {
      rows(130),
      nested_rows(),
      "\xef\xbb\xbf {\"rows\" : [ {\"a\":-1.5e+3} , {\"a\":null} ] ,\n\t\"total\":300}",
      R"({"caf\u00e9":1,"\ud83d\ude00":true,"a b":false,"\\":"\"","long long key":[[],{}]})",
      "{\"" + std::string(250, 'k') + "\\u0041\\u0042tail\":[{\"x\":1},{\"y\":0.5}],\"b\":[null]}",
      "[\"" + marker(0) + "\",\"text " + marker(255) + " text\",\"" + std::string(70, 'x') + "\"]",
      R"([[1,2],[3,[4,{"a":[5]}]],0,-0,0.0,1E5,12e-2])",
      R"({"broken":[1,2,{"a":tru}]})",
      "{\"a\":[{\"b\":1}],\"long key\":2} \r\n {\"b\":\"x\"}\n\n[1]\n",
      "{\"a\":1}\n{\"a\":2}\n{\"b\":\"x\"}\n[truncated: 3 of 9]\n\nAsk for page 2.",
  };
  return kDocuments;
}

TEST(Outline, IsTheSameForEverySplit) {
  for (const std::string& text : documents()) {
    const std::string whole = outline_of(text);
    for (size_t at = 0; at <= text.size(); at += testing::kSplitStep) {
      Outline outline;
      outline.push(as_bytes(std::string_view(text).substr(0, at)));
      outline.push(as_bytes(std::string_view(text).substr(at)));
      ASSERT_EQ(outline.finish(), whole) << "split at " << at << " of " << text;
    }
  }
}

TEST(Outline, IsTheSameForEveryBlockSize) {
  for (const std::string& text : documents()) {
    for (size_t block = 1; block <= 64; ++block) {
      ASSERT_EQ(outline_in_blocks(text, block), outline_of(text)) << block << " of " << text;
    }
  }
}

// Then what does not matter is skipped, wherever a piece of it ends.
TEST(Outline, IsTheSameOfWhatIsKnownToBeJson) {
  for (const std::string& text : documents()) {
    Tape tape;
    if (!Tape::parse(text, tape).ok()) continue;
    for (const size_t block : {1, 7, 63, 64, 65, 100, 127, 128, 129, 200, 100'000}) {
      ASSERT_EQ(outline_in_blocks(text, block, true), outline_of(text)) << block << " of " << text;
    }
  }
}

/// A JSON text of random values.
class Author {
 public:
  explicit Author(uint32_t seed) : random_(seed) {}

  std::string value(int depth) {
    switch (below(depth > 0 ? 9 : 6)) {
      case 0:
        return std::to_string(static_cast<int>(below(2'000)) - 1'000);
      case 1:
        return std::to_string(below(100)) + ".5e" + std::to_string(below(9));
      case 2:
        return "true";
      case 3:
        return "null";
      case 4:
        return text();
      case 5:
        return "false";
      case 6:
        return list(depth);
      default:
        return object(depth);
    }
  }

  std::string container(int depth) { return below(2) == 0 ? list(depth) : object(depth); }
  size_t below(size_t limit) { return random_() % limit; }

 private:
  std::string text() {
    static constexpr std::array<const char*, 9> kPieces = {
        "a", "id", "name ", "\\n", "\\u00e9", "\\ud83d\\ude00", "é", "\\\"", "日本"};
    std::string out = "\"";
    for (size_t i = below(8); i > 0; --i) out += kPieces[below(kPieces.size())];
    return out + "\"";
  }

  std::string space() { return below(6) == 0 ? " \n" : ""; }

  std::string list(int depth) {
    std::string out = "[" + space();
    const size_t count = below(9);
    for (size_t i = 0; i < count; ++i) out += (i > 0 ? "," : "") + value(depth - 1) + space();
    return out + "]";
  }

  std::string object(int depth) {
    std::string out = "{" + space();
    const size_t count = below(12);
    for (size_t i = 0; i < count; ++i) {
      out += (i > 0 ? "," : "") + space() + text() + space() + ":" + space() + value(depth - 1);
    }
    return out + "}";
  }

  std::mt19937 random_;
};

TEST(Outline, RandomDocuments) {
  Author author(20'260'101);
  for (int round = 0; round < 3'000; ++round) {
    const std::string text = author.container(4);
    const std::string outline = outline_of(text);
    ASSERT_NE(outline, "") << text;
    ASSERT_LE(count_chars(outline), 300u) << text;
    ASSERT_EQ(outline_in_blocks(text, 1 + author.below(64)), outline) << text;
    ASSERT_EQ(outline_in_blocks(text, 1 + author.below(64), true), outline) << text;
    // Strictness, against the tape's reader: a document with one byte changed or gone.
    std::string other = text;
    size_t at = author.below(other.size());
    while ((other[at] & 0x80) != 0) --at;  // the tape's reader checks UTF-8 too
    if (author.below(2) == 0) {
      other.erase(at, 1);
    } else {
      other[at] = "[]{},:\"\\0e-. t"[author.below(14)];
    }
    Tape tape;
    const bool valid = Tape::parse(other, tape).ok();
    const bool container = valid && (tape[0].type == Type::array || tape[0].type == Type::object);
    const std::string told = outline_of(other);
    ASSERT_EQ(told != "" && !told.ends_with(", cut off"), container) << other;
  }
}

}  // namespace
}  // namespace sluice
