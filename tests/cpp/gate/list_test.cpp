// Base64 split over the items of a list, and runs with nothing between them.
#include <gtest/gtest.h>

#include "gate/gate_fixture.h"

namespace sluice::testing {
namespace {

constexpr std::string_view kPdf = "%PDF-1.4\n";

std::string list_of(std::string_view text, size_t column, std::string_view separator = "\",\"") {
  return "[\"" + wrap(text, column, separator) + "\"]";
}

std::string nested(const std::string& json) {
  return "{\"text\":" + as_json(json) + "}";
}

// Any cut gives the same reduced text and brings the document back byte for byte.
void expect_exact(const std::string& json, const GateOptions& options = {}) {
  const Passed whole = pass(json, options);
  ASSERT_TRUE(whole.status.ok()) << whole.status.message;
  ASSERT_TRUE(restore(whole) == json) << whole.reduced.substr(0, 400);
  for (const size_t block : {1, 2, 3, 7, 16, 64, 79, 80, 1000, 4096}) {
    if (json.size() / block > 20'000) continue;
    const Passed cut = pass(json, options, block);
    ASSERT_EQ(cut.reduced, whole.reduced) << block;
    ASSERT_TRUE(cut.contents == whole.contents) << block;
    ASSERT_TRUE(restore(cut) == json) << block;
  }
}

// The whole list is one artifact, in a list with one string.
void expect_one(const std::string& json, const std::string& bytes, const std::string& what) {
  const Passed passed = pass(json);
  ASSERT_TRUE(passed.status.ok()) << passed.status.message;
  ASSERT_EQ(passed.segments.size(), 1u) << what << passed.reduced.substr(0, 300);
  EXPECT_TRUE(passed.contents[0] == bytes) << what;
  std::string one = "[\"";
  append_marker(one, 0);
  one += "\"]";
  EXPECT_EQ(passed.reduced, one) << what;
  EXPECT_TRUE(passed.segments[0].bare) << what;
  EXPECT_EQ(passed.segments[0].chars, json.size() - 2) << what;
  expect_exact(json);
}

TEST(GateList, OfAnyLengthIsOneRun) {
  for (const size_t size : {1'500u, 1'501u, 1'502u, 9'000u}) {
    const std::string pdf = bytes_like(kPdf, size);
    for (const size_t column : {16, 60, 64, 76, 77, 78, 79, 100, 1000, 1024, 1025, 1500}) {
      const std::string what = std::to_string(size) + " in " + std::to_string(column);
      expect_one(list_of(base64(pdf), column), pdf, what);
    }
  }
}

TEST(GateList, OfLongItemsIsOneRun) {
  const std::string pdf = bytes_like(kPdf, 250'000);
  for (const size_t column : {4'096, 65'536, 100'000, 131'072}) {
    expect_one(list_of(base64(pdf), column), pdf, std::to_string(column));
  }
}

TEST(GateList, KeepsAlphabetPaddingAndSeparator) {
  const std::string pdf = bytes_like(kPdf, 1'501);
  for (const std::string separator : {"\", \"", "\",\n    \"", "\" ,\r\n\t\"", "\"\n,\""}) {
    for (const bool url : {false, true}) {
      for (const bool padded : {false, true}) {
        expect_one(list_of(base64(pdf, url, padded), 76, separator), pdf, separator);
      }
    }
  }
}

TEST(GateList, KeepsEscapes) {
  const std::string pdf = bytes_like(kPdf, 2'000);
  const std::string lines = wrap(base64(pdf), 76, "\",\"");
  std::string json = "[\"";
  for (const char c : lines) {
    json += c == '/' ? "\\/" : c == '+' ? "\\u002B" : c == '=' ? "\\u003d" : std::string(1, c);
  }
  expect_one(json + "\"]", pdf, "escapes");
}

TEST(GateList, PaddingMayBeAnItem) {
  const std::string pdf = bytes_like(kPdf, 1'501);
  const std::string text = base64(pdf);
  ASSERT_TRUE(text.ends_with("=="));
  std::string json = list_of(text.substr(0, text.size() - 2), (text.size() - 2) / 2);
  ASSERT_EQ((text.size() - 2) % 2, 0u);
  json.insert(json.size() - 1, ",\"==\"");
  expect_one(json, pdf, "padding");
}

TEST(GateList, WithoutASignatureFollowsTheRuleForBytes) {
  expect_one(list_of(base64(bytes_like("", 9'000)), 76), bytes_like("", 9'000), "long");
  EXPECT_TRUE(pass(list_of(base64(bytes_like("", 7'000)), 76)).segments.empty());
  // Names of one length are not bytes, however many they are.
  EXPECT_TRUE(pass(list_of(base64(bytes_like("", 9'000)), 21)).segments.empty());
  EXPECT_TRUE(pass(list_of(base64(bytes_like("", 9'000), true), 43)).segments.empty());
  EXPECT_TRUE(pass(list_of(hex(bytes_like("", 9'000)), 64)).segments.empty());
}

TEST(GateList, StandsAnywhereAndAmongOthers) {
  const std::string pdf = bytes_like(kPdf, 3'000);
  const std::string png = bytes_like("\x89PNG\r\n\x1A\n\0\0\0\rIHDR", 2'000);
  const std::string one = wrap(base64(pdf), 76, "\",\"");
  const std::string two = wrap(base64(png), 100, "\",\"");
  for (const std::string& json :
       {"{\"parts\":[\"" + one + "\"],\"n\":1}", "[[\"" + one + "\"],[\"" + two + "\"]]",
        "[\"header\",\"a longer header line\",\"" + one + "\",5,\"" + two + "\",null]",
        "[\"" + one + "\",\"" + two + "\"]", "[\"abcdefghijklmnopqrstuvwxyz\",\"" + one + "\"]"}) {
    const Passed passed = pass(json);
    ASSERT_TRUE(passed.status.ok());
    ASSERT_FALSE(passed.segments.empty()) << json.substr(0, 40);
    EXPECT_TRUE(passed.contents[0] == pdf) << json.substr(0, 40);
    if (json.find(two) != json.npos) {
      ASSERT_EQ(passed.segments.size(), 2u);
      EXPECT_TRUE(passed.contents[1] == png);
    }
    expect_exact(json);
    expect_exact(nested(json));
    expect_exact(nested(nested(json)));
    const Passed inside = pass(nested(json));
    EXPECT_TRUE(inside.contents == passed.contents) << json.substr(0, 40);
    EXPECT_TRUE(pass(nested(nested(json))).contents == passed.contents) << json.substr(0, 40);
  }
}

TEST(GateList, NestedIsOneRunToo) {
  for (const size_t size : {1'500u, 1'501u, 1'502u, 9'000u}) {
    const std::string pdf = bytes_like(kPdf, size);
    for (const size_t column : {16, 76, 77, 1000, 1025}) {
      for (const std::string separator : {"\",\"", "\", \"", "\",\n  \""}) {
        const std::string json = nested(list_of(base64(pdf), column, separator));
        const Passed passed = pass(json);
        ASSERT_EQ(passed.segments.size(), 1u) << column;
        EXPECT_TRUE(passed.contents[0] == pdf) << column;
        expect_exact(json);
        expect_exact(nested(json));
        EXPECT_TRUE(pass(nested(json)).contents == passed.contents);
      }
    }
  }
}

// What is not taken for a run stays, however it ends.
TEST(GateList, WithoutASignatureStaysAsItCame) {
  for (const size_t size : {1'500u, 1'501u, 1'502u}) {
    for (const size_t column : {40, 76, 77, 1000}) {
      const std::string json = list_of(base64(bytes_like("", size)), column, "\",\n \"");
      EXPECT_TRUE(pass(nested(json)).segments.empty());
      expect_exact(json);
      expect_exact(nested(json));
      expect_exact(nested(nested(json)));
    }
  }
}

// Files that stand beside each other are not parts of one.
TEST(GateList, OfFilesStaysAListOfFiles) {
  const std::string png = "\x89PNG\r\n\x1A\n" + std::string("\0\0\0\rIHDR", 8);
  for (const size_t size : {900u, 3'000u, 30'000u, 96'000u}) {
    const std::string a = bytes_like(png, size, 1);
    const std::string b = bytes_like(png, size, 2);
    const std::string c = bytes_like(kPdf, size - 30, 3);
    const std::string json = "[\"" + base64(a) + "\",\"" + base64(b) + "\",\"" + base64(c) + "\"]";
    for (const std::string& document : {json, nested(json)}) {
      const Passed passed = pass(document);
      ASSERT_EQ(passed.segments.size(), 3u) << size;
      EXPECT_TRUE(passed.contents[0] == a);
      EXPECT_TRUE(passed.contents[1] == b);
      EXPECT_TRUE(passed.contents[2] == c);
      EXPECT_TRUE(passed.segments[0].form == Form{});
      EXPECT_FALSE(passed.segments[0].bare);
      expect_exact(document);
    }
  }
}

// What follows a file in a list is not taken for its end.
TEST(GateList, LeavesWordsBehindAFile) {
  const std::string pdf = bytes_like(kPdf, 1'500);
  for (const std::string word :
       {"thumbnail", "a thumbnail", "", "9f86d081884c7d659a2feaa0c55ad015", "http://x.y/abcdefgh",
        "LongNameWithoutNumbersXX", "JVBER", "caf\xC3\xA9", "==", "a\\u0041", "ab="}) {
    const std::string json = "[\"" + base64(pdf) + "\",\"" + word + "\",true]";
    for (const std::string& document : {json, nested(json)}) {
      const Passed passed = pass(document);
      ASSERT_EQ(passed.segments.size(), 1u) << word;
      EXPECT_TRUE(passed.contents[0] == pdf) << word;
      EXPECT_TRUE(passed.segments[0].form == Form{}) << word;
      expect_exact(document);
    }
  }
  const std::string object =
      "{\"a\":\"" + base64(pdf) + "\",\"thumbnailOfPage1Xyz\":\"" + base64(pdf) + "\"}";
  EXPECT_EQ(pass(object).segments.size(), 2u);
  EXPECT_EQ(pass(nested(object)).segments.size(), 2u);
  expect_exact(nested(object));
}

// What has no uniform form ends the run and stays as it came.
TEST(GateList, EndsWhereItsFormDoes) {
  const std::string pdf = bytes_like(kPdf, 3'000);
  const std::string text = base64(pdf);
  for (const size_t column : {64, 76, 77, 78, 79}) {
    const std::string lines = wrap(text, column, "\",\"");
    const size_t third = 3 * (column + 3);
    for (const auto& [at, size, with] :
         std::vector<std::tuple<size_t, size_t, std::string>>{{third * 7, 0, "A"},
                                                              {third * 7 + 5, 1, ""},
                                                              {third * 7 - 2, 1, " , "},
                                                              {third * 7 + 9, 1, "-"},
                                                              {third * 7 + 9, 1, "\\u0041"},
                                                              {third * 7 - 2, 1, ",null,"},
                                                              {third * 7 - 2, 1, ",[],"}}) {
      std::string changed = lines;
      changed.replace(at, size, with);
      const std::string json = "[\"" + changed + "\"]";
      const Passed passed = pass(json);
      ASSERT_TRUE(passed.status.ok()) << passed.status.message << with;
      ASSERT_FALSE(passed.segments.empty()) << with;
      EXPECT_EQ(passed.contents[0].substr(0, 900), pdf.substr(0, 900)) << with;
      expect_exact(json);
      expect_exact(nested(json));
    }
  }
}

TEST(GateList, OfUnequalItemsStaysAsItCame) {
  const std::string text = base64(bytes_like(kPdf, 3'000));
  std::string json = "[";
  for (size_t at = 0, size = 20; at < text.size(); at += size, size = 20 + at % 31) {
    json += (at > 0 ? ",\"" : "\"") + text.substr(at, size) + "\"";
  }
  json += "]";
  const Passed passed = pass(json);
  EXPECT_TRUE(passed.segments.empty());
  expect_exact(json);
}

TEST(GateList, ThatBreaksOffIsAnErrorWhereItBreaks) {
  const std::string lines = "[\"" + wrap(base64(bytes_like(kPdf, 3'000)), 76, "\",\n\"");
  for (size_t size = 2'000; size < 2'200; ++size) {
    const std::string json = lines.substr(0, size);
    const Passed whole = pass(json);
    ASSERT_EQ(whole.status.code, Code::json_end) << size;
    for (const size_t block : {1, 13, 80}) {
      const Passed cut = pass(json, {}, block);
      ASSERT_EQ(cut.status.line, whole.status.line) << size;
      ASSERT_EQ(cut.status.column, whole.status.column) << size;
    }
  }
}

TEST(GateList, NeedsConstantMemory) {
  Gate gate{GateOptions{}};
  const std::string lines = wrap(base64(bytes_like("", 5'700)), 76, "\",\"") + "\",\"";
  const std::string first = "[\"" + wrap(base64(bytes_like(kPdf, 5'700)), 76, "\",\"") + "\",\"";
  ASSERT_TRUE(gate.push(as_bytes(first)).ok());
  uint64_t most = 0;
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(gate.push(as_bytes(lines)).ok());
    most = std::max<uint64_t>(most, gate.events().size() + gate.reduced().size());
    gate.events().clear();
  }
  ASSERT_TRUE(gate.push(as_bytes("AAAA\"]")).ok());
  ASSERT_TRUE(gate.finish().ok());
  EXPECT_EQ(gate.segments().size(), 1u);
  EXPECT_EQ(gate.segments()[0].bytes, 501u * 5'700 + 3);
  EXPECT_LT(most, 14'000u);
}

TEST(GateRuns, WithNothingBetweenAreTwo) {
  const std::string pdf = bytes_like(kPdf, 1'501);
  const std::string png = bytes_like("\x89PNG\r\n\x1A\n" + std::string("\0\0\0\rIHDR", 8), 1'600);
  for (const std::string& text :
       {base64(pdf) + base64(png), "x " + base64(pdf) + base64(png),
        wrap(base64(pdf), 76) + base64(png), base64(pdf, true) + wrap(base64(png), 76) + " y"}) {
    for (const std::string& json :
         {as_json(text), nested(as_json(text)), "[" + as_json(text) + "]"}) {
      const Passed passed = pass(json);
      ASSERT_EQ(passed.segments.size(), 2u) << text.substr(0, 10);
      EXPECT_TRUE(passed.contents[0] == pdf);
      EXPECT_TRUE(passed.contents[1] == png);
      EXPECT_EQ(passed.segments[0].mime_type, "application/pdf");
      EXPECT_EQ(passed.segments[1].mime_type, "image/png");
      expect_exact(json);
    }
  }
  // A short one before it hides none.
  const Passed passed = pass(as_json("SGVsbG8gd29ybGQhIQ==" + base64(png)));
  ASSERT_EQ(passed.segments.size(), 1u);
  EXPECT_TRUE(passed.contents[0] == png);
}

}  // namespace
}  // namespace sluice::testing
