// What the gate never exceeds, and what it says of input it cannot take.
#include <gtest/gtest.h>

#include "gate/gate_fixture.h"
#include "sluice/tape.h"
#include "split_step.h"

namespace sluice::testing {
namespace {

std::string rows(int count, const std::string& extra = "") {
  std::string out = "[";
  for (int i = 0; i < count; ++i) {
    if (i > 0) out += ',';
    out += "{\"id\":" + std::to_string(i) + ",\"name\":\"item " + std::to_string(i) +
           "\",\"v\":0.5" + extra + "}";
  }
  return out + "]";
}

TEST(GateBounds, ALargeTableGoesWholeAndIsOutlined) {
  const std::string json =
      "{\"content\":[{\"type\":\"text\",\"text\":\"12,000 "
      "rows\"}],\"structuredContent\":{\"rows\":" +
      rows(12'000) + ",\"total\":12000}}";
  const Passed passed = pass(json);
  ASSERT_EQ(passed.segments.size(), 1u);
  EXPECT_EQ(passed.segments[0].kind, SegmentKind::json);
  EXPECT_TRUE(passed.segments[0].bare);
  EXPECT_EQ(passed.segments[0].mime_type, "application/json");
  EXPECT_NE(
      passed.segments[0].description.find("array of 12,000 {id: integer, name: string, v: number}"),
      std::string::npos)
      << passed.segments[0].description;
  EXPECT_TRUE(passed.contents[0] == rows(12'000));
  EXPECT_NE(passed.reduced.find("\"total\":12000"), std::string::npos);
  EXPECT_EQ(normal(restore(passed)), normal(json));
}

TEST(GateBounds, TheSmallestSubTreeThatHelpsGoes) {
  const std::string json = "{\"a\":{\"b\":{\"big\":" + rows(800) +
                           "},\"small\":1},\"c\":" + rows(300) + ",\"d\":" + rows(300) + "}";
  const Passed passed = pass(json);
  ASSERT_GE(passed.segments.size(), 1u);
  EXPECT_EQ(passed.contents[0], rows(800)) << "not the objects around it";
  EXPECT_LE(count_chars(passed.reduced), 50'000u);
  EXPECT_EQ(normal(restore(passed)), normal(json));
}

TEST(GateBounds, TheReducedDocumentStaysSmallWhateverComes) {
  const std::string wide = "{\"x\":[" + rows(900) + "," + rows(900) + "," + rows(900) + "]}";
  std::string keys = "{";
  for (int i = 0; i < 20'000; ++i) keys += (i > 0 ? ",\"k" : "\"k") + std::to_string(i) + "\":1";
  keys += "}";
  std::string many = "[";
  for (int i = 0; i < 400; ++i) many += (i > 0 ? "," : "") + rows(400);
  many += "]";
  std::string deep;
  for (int i = 0; i < 500; ++i) deep += "{\"a\":" + rows(3) + ",\"b\":";
  deep += "1" + std::string(500, '}');
  for (const std::string& json : {wide, keys, many, deep}) {
    const Passed passed = pass(json);
    ASSERT_TRUE(passed.status.ok());
    EXPECT_LE(count_chars(passed.reduced), 51'000u);
    EXPECT_LE(passed.segments.size(), 32u);
    EXPECT_EQ(normal(restore(passed)), normal(json));
  }
}

TEST(GateBounds, ArtifactsOfAMessageAreCapped) {
  std::string json = "[";
  for (uint32_t i = 0; i < 2'000; ++i)
    json += (i > 0 ? "," : "") + as_json(base64(bytes_like("%PDF-1.4\n", 900, i)));
  json += "]";
  GateOptions options;
  options.max_segments = 50;
  const Passed passed = pass(json, options, 4096);
  ASSERT_TRUE(passed.status.ok());
  EXPECT_LE(passed.segments.size(), 52u);
  EXPECT_LT(passed.reduced.size(), 100u);
  EXPECT_EQ(normal(restore(passed)), normal(json));
}

struct Wrong {
  std::string json;
  Code code;
  uint64_t line;
  uint64_t column;
};

TEST(GateBounds, WhatIsNoJsonIsRefusedWithItsPlace) {
  const std::vector<Wrong> cases = {
      {"", Code::json_end, 1, 1},
      {"{\n  \"a\": nope\n}", Code::json_syntax, 2, 8},
      {"{\"na\xC3\xAFve\" 1}", Code::json_syntax, 1, 10},
      {"[1,\n2,\n,]", Code::json_syntax, 3, 1},
      {"[\"abc\x01\"]", Code::json_syntax, 1, 6},
      {"[\"\\x\"]", Code::json_syntax, 1, 3},
      {"[\"\\u12G4\"]", Code::json_syntax, 1, 3},
      {"{\"a\":1", Code::json_end, 1, 7},
      {"[1] 2", Code::json_syntax, 1, 5},
      {"[01]", Code::json_syntax, 1, 2},
      {"[1.]", Code::json_syntax, 1, 2},
      {"[\"a]", Code::json_end, 1, 5},
      {"{1:2}", Code::json_syntax, 1, 2},
      {"[1,]", Code::json_syntax, 1, 4},
      {"{\"a\":1,}", Code::json_syntax, 1, 8},
  };
  for (const Wrong& wrong : cases) {
    const Status status = pass(wrong.json).status;
    EXPECT_EQ(status.code, wrong.code) << wrong.json << ": " << status.message;
    EXPECT_EQ(status.line, wrong.line) << wrong.json;
    EXPECT_EQ(status.column, wrong.column) << wrong.json;
    EXPECT_FALSE(status.message.empty());
  }
}

TEST(GateBounds, AByteOrderMarkIsPassedOver) {
  for (const size_t block : {0, 1, 2, 3, 4}) {
    EXPECT_EQ(pass("\xEF\xBB\xBF[1]", {}, block).reduced, "[1]");
    EXPECT_EQ(pass("\xEF\xBB[1]", {}, block).status.code, Code::json_syntax);
  }
  EXPECT_EQ(pass("[1]\xEF\xBB\xBF").status.code, Code::json_syntax);
}

std::string deep(size_t levels, const std::string& inside = "", bool objects = false) {
  std::string json;
  for (size_t i = 0; i < levels; ++i) json += objects && i % 3 > 0 ? "{\"k\":" : "[";
  json += inside.empty() && objects ? "1" : inside;
  for (size_t i = levels; i > 0; --i) json += objects && (i - 1) % 3 > 0 ? '}' : ']';
  return json;
}

// What is deeper than the limit is one artifact, whatever stands around and in it.
TEST(GateBounds, WhatIsTooDeepIsDiverted) {
  EXPECT_TRUE(pass(deep(512)).segments.empty());
  const std::string pdf = bytes_like("%PDF-1.4\n", 2'000);
  for (const size_t levels : {513u, 514u, 600u, 5'000u, 100'000u}) {
    for (const bool objects : {false, true}) {
      for (const std::string& inside :
           {std::string(), as_json(base64(pdf)), "1,[2],\"three\"" + std::string()}) {
        if (objects && inside.starts_with("1,")) continue;
        const std::string json = "{\"a\":[1," + deep(levels - 2, inside, objects) + "],\"b\":{}}";
        const Passed whole = pass(json);
        ASSERT_TRUE(whole.status.ok()) << whole.status.message;
        ASSERT_EQ(whole.segments.size(), inside.starts_with('"') ? 2u : 1u) << levels;
        const Segment& segment = whole.segments[0];
        EXPECT_EQ(segment.kind, SegmentKind::json);
        EXPECT_EQ(segment.mime_type, "application/json");
        EXPECT_TRUE(segment.bare && segment.whole);
        Tape tape;
        EXPECT_TRUE(Tape::parse(whole.reduced, tape, 512).ok());
        EXPECT_TRUE(restore(whole) == json) << levels;
        for (const size_t block : {1, 7, 1'000, 65'536}) {
          if (kSanitized && levels > 5'000 && block < 1'000) continue;
          const Passed cut = pass(json, {}, block);
          ASSERT_TRUE(cut.reduced == whole.reduced && cut.contents == whole.contents) << block;
        }
      }
    }
  }
}

TEST(GateBounds, WhatIsTooDeepIsDivertedWhateverIsSwitchedOff) {
  GateOptions off;
  off.divert_text = false;
  off.detect_runs = false;
  EXPECT_TRUE(restore(pass(deep(1'000), off)) == deep(1'000));
  EXPECT_EQ(pass(deep(1'000), off).segments.size(), 1u);
  GateOptions few;
  few.max_segments = 1;
  const std::string two = "[" + deep(600) + "," + deep(700) + "]";
  EXPECT_TRUE(restore(pass(two, few)) == two);
  // Members that pass as they came do not, beyond it.
  GateOptions protect;
  protect.protect = true;
  for (const std::string& json :
       {"{\"_meta\":" + deep(5'000, "", true) + ",\"content\":[]}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"_meta\":{\"a\":" + deep(5'000) +
            "},\"rows\":[" + std::string(60'000, ' ') + "1],\"icons\":" + deep(600) + "}}"}) {
    const Passed passed = pass(json, protect);
    ASSERT_TRUE(passed.status.ok()) << passed.status.message;
    Tape tape;
    EXPECT_TRUE(Tape::parse(passed.reduced, tape, 600).ok());
    const Passed cut = pass(json, protect, 100);
    EXPECT_TRUE(cut.reduced == passed.reduced && cut.contents == passed.contents);
  }
}

TEST(GateBounds, WhatIsTooDeepMustBeJson) {
  EXPECT_EQ(pass(std::string(100'000, '[')).status.code, Code::json_end);
  EXPECT_EQ(pass(std::string(100'000, '[') + "}").status.code, Code::json_syntax);
  EXPECT_EQ(pass(std::string(600, '[') + std::string(601, ']')).status.code, Code::json_syntax);
  EXPECT_EQ(pass(std::string(2'000'000, '[')).status.code, Code::json_depth);
  EXPECT_EQ(pass(std::string(2'000'000, '['), {}, 1'000).status.column, 1'000'001u);
}

TEST(GateBounds, NumbersAreBounded) {
  EXPECT_EQ(pass(std::string(70'000, '1')).status.code, Code::json_number);
  EXPECT_EQ(pass("[" + std::string(70'000, '1') + "]", {}, 1000).status.code, Code::json_number);
}

TEST(GateBounds, BackslashesWithoutEndAreHarmless) {
  const std::string json = "{\"a\":\"" + std::string(200'000, '\\') + "\"}";
  const Passed passed = pass(json, {}, 777);
  ASSERT_TRUE(passed.status.ok()) << passed.status.message;
  EXPECT_EQ(normal(restore(passed)), normal(json));
}

TEST(GateBounds, SwitchedOffNothingIsTaken) {
  GateOptions off;
  off.detect_runs = false;
  off.divert_text = false;
  const std::string json =
      "{\"a\":" + as_json(base64(bytes_like("%PDF-1.4\n", 30'000))) + ",\"b\":" + rows(2000) + "}";
  EXPECT_EQ(pass(json, off, 1000).reduced, json);
}

}  // namespace
}  // namespace sluice::testing
