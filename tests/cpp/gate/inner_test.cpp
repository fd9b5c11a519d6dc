// JSON in the text of a string is taken apart like JSON outside of it, and put together again to
// the character.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "gate/gate_fixture.h"
#include "json/spelling.h"
#include "sluice/config.h"
#include "sluice/tape.h"
#include "split_step.h"

namespace sluice::testing {
namespace {

GateOptions tight() {
  GateOptions options;
  options.max_inline_size = 300;
  options.max_document_chars = 900;
  options.min_run_chars = 100;
  options.max_segments = 24;
  return options;
}

// The same for a tool whose configuration names places.
GateOptions with_fields() {
  static const std::vector<ToolField> fields = {{"rows.*.name", "name", "", ""},
                                                {"items[3].name", "name", "", ""},
                                                {"$[1].name", "name", "", ""},
                                                {"stderr", "log", "", ""},
                                                {"body", "file", "", ""},
                                                {"out", "log", "text/plain", ""},
                                                {"a", "x", "", ""},
                                                {"n\xC3\xA4me", "x", "", ""},
                                                {"*.file", "file", "", ""},
                                                {"page.*.file", "file", "", ""},
                                                {"text", "x", "", ""},
                                                {"deep.*.*.x", "x", "", ""}};
  GateOptions options = tight();
  options.fields = &fields;
  return options;
}

std::string log_of(int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i)
    text +=
        "line " + std::to_string(i) + " of a \"log\"\t/usr/bin \\ na\xC3\xAFve \xF0\x9F\xA6\x8A\n";
  return text;
}

std::string rows(int count) {
  std::string out = "[";
  for (int i = 0; i < count; ++i)
    out += (i > 0 ? ",{\"id\":" : "{\"id\":") + std::to_string(i) + ",\"name\":\"row\"}";
  return out + "]";
}

std::string block(const std::string& text) {
  return "{\"content\":[{\"type\":\"text\",\"text\":" + as_json(text) + "}]}";
}

// How other writers of JSON spell a string.
std::string spelled(std::string_view text, std::string_view spelling) {
  std::string out = "\"";
  Spelling::parse(spelling)->write(text, out);
  return out + '"';
}

void expect_same(const Passed& whole, const Passed& cut, const std::string& what) {
  ASSERT_EQ(cut.reduced, whole.reduced) << what;
  ASSERT_EQ(cut.segments.size(), whole.segments.size()) << what;
  for (size_t i = 0; i < whole.segments.size(); ++i) {
    ASSERT_TRUE(cut.contents[i] == whole.contents[i]) << what << ", segment " << i;
    ASSERT_EQ(cut.segments[i].spelling, whole.segments[i].spelling) << what;
    ASSERT_EQ(cut.segments[i].spelled, whole.segments[i].spelled) << what;
    ASSERT_EQ(cut.segments[i].chars, whole.segments[i].chars) << what;
    ASSERT_EQ(cut.segments[i].whole, whole.segments[i].whole) << what;
    ASSERT_EQ(cut.segments[i].bare, whole.segments[i].bare) << what;
    ASSERT_EQ(cut.segments[i].description, whole.segments[i].description) << what;
  }
}

// Members that the configuration names beside so many rows that they leave as a whole.
std::vector<std::string> named() {
  const std::string file = base64(bytes_like("%PDF-1.4\n", 40));
  const std::string note =
      "{\"stderr\":\"Dear reader,\\nwell.\",\"out\":\"word\",\"n\\u00e4me\":\"\\u00e9 x\",\"a\":7,";
  const std::vector<std::string> values = {
      note + "\"rows\":" + rows(60) + ",\"body\":\"" + file + "\",\"text\":\"\"}",
      "{\"body\":" + spelled(file + "//+", "json-s") + ",\"rows\":" + rows(60) + "}",
      "{\"rows\":" + rows(20) + ",\"out\":" + spelled("a/b <\xC3\xA9> c", "json-n-s-u3c3e") +
          ",\"stderr\":\"a/b\\/c \\u00e9\xC3\xA9\",\"items\":" + rows(60) + "}",
      "{\"p\":{\"file\":\"" + file + "\"},\"page\":[{\"file\":\"one\"},{\"file\":\"" +
          hex("%PDF-1.4") + "\"}],\"rows\":" + rows(60) + "}",
      "{\"rows\":" + rows(60) + ",\"out\":" + as_json(log_of(30)) + ",\"stderr\":\"" +
          base64(bytes_like("%PDF-1.4\n", 400)) +
          "\",\"a\":" + as_json("{\"rows\":" + rows(60) + "}") + "}",
      "{\"deep\":{\"a\":" + rows(9) + ",\"b\":{\"c\":{\"x\":\"found\"}}},\"rows\":" + rows(60) +
          "}",
      "{\"result\":{\"stderr\":\"in a wrapper\",\"rows\":" + rows(60) + "}}",
  };
  std::vector<std::string> all;
  for (const std::string& value : values) {
    all.push_back(block(value));
    all.push_back("{\"content\":[],\"structuredContent\":" + value + "}");
    all.push_back("{\"first\":" + value + ",\"second\":" + value + "}");
  }
  return all;
}

std::vector<std::string> documents() {
  const std::string pdf = base64(bytes_like("%PDF-1.4\n", 400));
  std::string bytes = "[";
  for (const char c : bytes_like("%PDF-1.4\n", 90))
    bytes += std::to_string(static_cast<uint8_t>(c)) + ", ";
  bytes.replace(bytes.size() - 2, 2, "]");
  const std::string log = log_of(30);
  const std::string shell = "{\"stdout\": " + as_json(log) + ", \"stderr\": \"\", \"exitCode\": 1}";
  const std::string nested = "{\"body\":" + as_json("{\"rows\":" + rows(40) + ",\"n\":40}") + "}";
  std::vector<std::string> texts = {
      shell,
      nested,
      "{\"body\":" + as_json(shell) + ",\"ok\":true}",
      "{\"a\":" + as_json("{\"b\":" + as_json("{\"c\":" + as_json(log) + "}") + "}") + "}",
      "{\"body\":" + spelled(shell, "json-n-m-s") + ",\"ok\":true}",
      "{\"body\":" + spelled(nested, "json-X-u223c3e") + ",\"ok\":true}",
      "{\"out\":" + spelled(log, "json-X-n-m-l-s-u222f") + ",\"x\":[1,2]}",
      "{\"out\":" + spelled(log, "json-m") + ",\"x\":NaN,\"y\":[-Infinity]}",
      "{\"items\":" + rows(60) + ",\"next_cursor\":\"abc\",\"total\":482}",
      rows(60),
      "  " + rows(60) + "\n",
      "Found 60 rows:\n" + rows(60),
      "Result:\n```json\n" + rows(60) + "\n```\nThat is all.",
      "Said: {\"rows\":" + rows(60) + ",\"more\":true} and then some words",
      "{\"rows\":" + rows(60) + "}\n" + log,
      "{\"a\":1}\n{\"rows\":" + rows(60) + "}\n",
      "{\"log\":" + as_json(log) + ",\"pdf\":\"" + pdf + "\",\"again\":" + as_json(log + pdf) + "}",
      "{\"bytes\":" + bytes + ",\"log\":" + as_json(log) + "}",
      "{\"l\":[" + as_json(log) + "," + as_json(log) + "],\"r\":" + rows(50) + "}",
      // Broken off, or broken.
      shell.substr(0, shell.size() - 40),
      nested.substr(0, 700),
      "{\"rows\":" + rows(30) + ",,\"x\":" + as_json(log) + "}",
      "{\"rows\":" + rows(60).substr(0, 900) + "... <truncated>",
      "{\"out\":" + as_json(log) + "} trailing " + log,
      "{\"out\":\"" + std::string(400, 'x') + "\x07" + log + "\"}",
      "{\"out\":\"" + std::string(400, 'x') + "\\q" + std::string(400, 'y') + "\"}",
      "{\"out\":\"" + std::string(400, 'x') + "\\u12",
      "{\"out\":1" + std::string(2000, '0') + "}",
      // One string, two spellings.
      "{\"out\":\"" + std::string(200, '/') + "\\/" + std::string(500, '/') + "\",\"b\":2}",
      "{\"o\":\"{\\\"a\\\":\\\"" + std::string(600, 'a') + "\\u0041\xC3\xA9\\u00e9\\\"}\"}",
      "{\"o\":\"{\\\"a\\\":\\\"\xE2\x80\xA8" + std::string(600, 'a') + "\\u2028\\\"}\",\"p\":1}",
      "[INFO] " + log,
      "[a](b) " + log,
      "{not json} " + log,
  };
  std::vector<std::string> all;
  for (const std::string& text : texts) all.push_back(block(text));
  all.push_back("{\"structuredContent\":{\"text\":" + as_json(shell) + ",\"rows\":" + rows(30) +
                ",\"total\":30},\"content\":[]}");
  all.push_back("[" + as_json(shell) + "," + rows(60) + "," + as_json(nested) + "]");
  all.push_back("{" + as_json(shell) + ":1}");
  return all;
}

std::vector<std::pair<std::vector<std::string>, GateOptions>> cases() {
  return {{documents(), tight()}, {named(), with_fields()}};
}

TEST(GateInner, RestoringGivesTheOriginal) {
  for (const auto& [documents, limits] : cases()) {
    for (const std::string& json : documents) {
      for (const bool protect : {false, true}) {
        GateOptions options = limits;
        options.protect = protect;
        const Passed whole = pass(json, options);
        ASSERT_TRUE(whole.status.ok()) << json;
        ASSERT_EQ(normal(restore(whole)), normal(json)) << json << "\n" << whole.reduced;
        ASSERT_EQ(normal(whole.reduced).find("not JSON"), std::string::npos);
      }
    }
  }
}

TEST(GateInner, EverySplitPoint) {
  for (const auto& [documents, options] : cases()) {
    for (const std::string& json : documents) {
      const Passed whole = pass(json, options);
      for (size_t at = 0; at <= json.size(); at += kSplitStep * (json.size() > 2'000 ? 29 : 5)) {
        expect_same(whole, pass_split(json, options, at),
                    json.substr(0, 100) + " split at " + std::to_string(at));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(GateInner, SmallBlocks) {
  for (const auto& [documents, options] : cases()) {
    for (const std::string& json : documents) {
      const Passed whole = pass(json, options);
      for (const size_t size : {1, 3, 7, 16, 31, 100, 600}) {
        expect_same(whole, pass(json, options, size),
                    json.substr(0, 100) + " in blocks of " + std::to_string(size));
        if (HasFatalFailure()) return;
      }
    }
  }
}

// What the configuration names leaves a text that leaves as a whole, however short it is, and a
// sub-tree too.
TEST(GateInner, NamedMembersLeaveAValueOfManyMembers) {
  GateOptions options;
  const std::vector<ToolField> fields = {{"rows.1700.name", "name", "text/plain", ""},
                                         {"other", "x", "", ""},
                                         {"kept.*", "x", "text/plain", ""},
                                         {"stderr", "log", "", ""},
                                         {"body", "file", "", ""},
                                         {"out", "log", "text/plain", ""}};
  options.fields = &fields;
  const std::string file = bytes_like("%PDF-1.4\n", 40);
  const std::string value = "{\"stderr\":\"Dear reader.\",\"rows\":" + rows(2'000) +
                            ",\"body\":\"" + base64(file) +
                            "\",\"out\":\"word\",\"kept\":{\"a\":1,\"b\":\"deep\"}}";
  for (const std::string& json : {block(value), block("Found them:\n" + value)}) {
    const Passed passed = pass(json, options);
    std::map<uint32_t, std::string> found;
    for (size_t i = 0; i < passed.segments.size(); ++i) {
      const Segment& segment = passed.segments[i];
      if (segment.field > 0) found[segment.field] = passed.contents[i];
      EXPECT_EQ(segment.mime_type == "application/pdf", segment.field == 5);
    }
    EXPECT_EQ(found[1], "row");
    EXPECT_EQ(found[3], "deep");
    EXPECT_EQ(found[4], "Dear reader.");
    EXPECT_EQ(found[5], file);
    EXPECT_EQ(found[6], "word");
    EXPECT_EQ(normal(restore(passed)), normal(json));
  }
}

TEST(GateInner, NamedElementsLeaveASubtree) {
  GateOptions options;
  const std::vector<ToolField> fields = {{"rows[1500].name", "name", "text/plain", ""},
                                         {"rows[*].other", "x", "", ""},
                                         {"rows[1500]", "row", "", ""}};
  options.fields = &fields;
  for (const std::string& json :
       {"{\"rows\":" + rows(3'000) + "}",
        "{\"content\":[],\"structuredContent\":{\"result\":{\"rows\":" + rows(3'000) + "}}}"}) {
    const Passed passed = pass(json, options);
    ASSERT_EQ(passed.segments.size(), 2u);
    const uint32_t field = passed.segments[0].field > 0 ? 0 : 1;
    EXPECT_EQ(passed.contents[field], "row");
    EXPECT_EQ(passed.segments[field].field, 1u);
    EXPECT_EQ(passed.segments[1 - field].inner, std::vector<uint32_t>{field});
    EXPECT_EQ(normal(restore(passed)), normal(json));
  }
}

// Names of so many elements leave room for what leaves as a whole, and for bytes no less than
// without them.
TEST(GateInner, NamedElementsAreBounded) {
  GateOptions options;
  const std::vector<ToolField> fields = {{"*.name", "name", "", ""}};
  options.fields = &fields;
  const std::string json = block(rows(9'000));
  const Passed passed = pass(json, options);
  EXPECT_LE(passed.segments.size(), options.max_segments + 2);
  EXPECT_EQ(normal(restore(passed)), normal(json));
  EXPECT_LT(passed.reduced.size(), 100u);
}

TEST(GateInner, TheEnvelopeStays) {
  const std::string log = log_of(600);
  const Passed passed =
      pass(block("{\"stdout\": " + as_json(log) + ", \"stderr\": \"\", \"exitCode\": 0}"));
  ASSERT_EQ(passed.segments.size(), 1u);
  EXPECT_EQ(passed.segments[0].kind, SegmentKind::text);
  EXPECT_TRUE(passed.contents[0] == log);
  EXPECT_NE(passed.reduced.find("\\\"stderr\\\": \\\"\\\", \\\"exitCode\\\": 0}"),
            std::string::npos)
      << passed.reduced;
}

// It may be a file, and a part of it could not be put back.
TEST(GateInner, AValueOfManyMembersIsOneFile) {
  for (const std::string& value :
       {"{\"version\":3,\"rows\":" + rows(900) + ",\"log\":" + as_json(log_of(600)) + ",\"n\":1}",
        "{\"a\":" + rows(200) + ",\"b\":{\"c\":" + rows(300) + "},\"d\":[[" + rows(200) + "]]}",
        "{\"a\":" + std::string(600, '[') + rows(900) + std::string(600, ']') + "}",
        " \n{\n  \"rows\": " + rows(900) + "\n}\n"}) {
    const Passed passed = pass(block(value));
    ASSERT_EQ(passed.segments.size(), 1u);
    EXPECT_EQ(passed.segments[0].kind, SegmentKind::json);
    EXPECT_TRUE(passed.segments[0].whole);
    EXPECT_TRUE(passed.contents[0] == value);
  }
}

TEST(GateInner, AListBehindASentenceIsJson) {
  const Passed passed = pass(block("Found 900 rows:\n```json\n" + rows(900) + "\n```"));
  ASSERT_EQ(passed.segments.size(), 1u);
  EXPECT_EQ(passed.segments[0].kind, SegmentKind::json);
  EXPECT_TRUE(passed.contents[0] == rows(900));
  EXPECT_NE(passed.reduced.find("Found 900 rows:\\n```json\\n\x01"), std::string::npos);
  EXPECT_NE(passed.reduced.find("\x02\\n```"), std::string::npos);
}

TEST(GateInner, BothHalvesHaveOneLimit) {
  const std::string value = "{\"rows\":" + rows(900) + ",\"next\":\"abc\"}";
  for (const bool protect : {false, true}) {
    GateOptions options;
    options.protect = protect;
    const Passed passed = pass("{\"content\":[{\"type\":\"text\",\"text\":" + as_json(value) +
                                   "}],\"structuredContent\":" + value + "}",
                               options);
    ASSERT_EQ(passed.segments.size(), 2u);
    EXPECT_TRUE(passed.contents[0] == value);
    EXPECT_TRUE(passed.contents[1] == rows(900));
    EXPECT_NE(passed.reduced.find("\"next\":\"abc\""), std::string::npos);
  }
}

// What a writer spells is learnt from its source and written again, in any pieces.
TEST(Spelling, LearnsAndWritesAgain) {
  std::mt19937 random(7);
  const std::string alphabet[] = {"a",    "/",    "<", "'",           "\"",     "\\",
                                  "\n",   "\x01", "é", "\u2028",      "\u4e2d", "\U0001F98A",
                                  "\x7f", "+",    " ", "\xED\xA0\xBD"};
  for (const std::string name :
       {"json", "json-n-m-l", "json-X-n-s", "json-u263c3e", "json-X-m-u22272b", "json-l-u080a"}) {
    const Spelling writer = *Spelling::parse(name);
    EXPECT_EQ(writer.name(), name);
    for (int round = 0; round < 300; ++round) {
      std::string text;
      for (size_t i = random() % 60; i > 0; --i) text += alphabet[random() % std::size(alphabet)];
      std::string source;
      writer.write(text, source);
      Spelling learner;
      ASSERT_EQ(learner.learn(source), source.size()) << name << ": " << source;
      std::string again;
      learner.write(text, again);
      ASSERT_EQ(again, source);
      again.clear();
      Spelling::parse(learner.name())->write(text, again);
      ASSERT_EQ(again, source) << learner.name();
      std::string read;
      append_unescaped(read, source);
      ASSERT_EQ(read, text);
    }
  }
}

TEST(Spelling, AnotherSpellingIsNotLearnt) {
  for (const auto& [source, size] : {std::pair<std::string, size_t>{"a/b\\/", 3},
                                     {"\\/ /", 3},
                                     {"\\u00e9\xC3\xA9", 6},
                                     {"\\u00e9\\u00E8", 6},
                                     {"x\\u0041", 1},
                                     {"\\n\\u000a", 2},
                                     {"\\u2028 \xE2\x80\xA8", 7},
                                     {"\\ud83e\\udd8a\xF0\x9F\xA6\x8A", 12}}) {
    EXPECT_EQ(Spelling().learn(source), size) << source;
  }
}

}  // namespace
}  // namespace sluice::testing
