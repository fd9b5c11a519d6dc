// The same bytes in any chunks give the same outcome.
#include <gtest/gtest.h>

#include <random>

#include "gate/gate_fixture.h"
#include "split_step.h"

namespace sluice::testing {
namespace {

void expect_same(const Passed& whole, const Passed& cut, const std::string& what) {
  ASSERT_EQ(cut.status.code, whole.status.code) << what;
  ASSERT_EQ(cut.status.line, whole.status.line) << what;
  ASSERT_EQ(cut.status.column, whole.status.column) << what;
  if (!whole.status.ok()) return;
  ASSERT_EQ(cut.reduced, whole.reduced) << what;
  ASSERT_EQ(cut.segments.size(), whole.segments.size()) << what;
  for (size_t i = 0; i < whole.segments.size(); ++i) {
    ASSERT_TRUE(cut.closed[i]) << what;
    ASSERT_TRUE(cut.contents[i] == whole.contents[i]) << what << ", segment " << i;
    const Segment& a = cut.segments[i];
    const Segment& b = whole.segments[i];
    ASSERT_TRUE(a.form == b.form) << what;
    ASSERT_EQ(a.kind, b.kind) << what;
    ASSERT_EQ(a.whole, b.whole) << what;
    ASSERT_EQ(a.bare, b.bare) << what;
    ASSERT_EQ(a.bytes, b.bytes) << what;
    ASSERT_EQ(a.chars, b.chars) << what;
    ASSERT_EQ(a.mime_type, b.mime_type) << what;
    ASSERT_EQ(a.description, b.description) << what;
    ASSERT_EQ(a.preview, b.preview) << what;
    ASSERT_EQ(a.excerpt, b.excerpt) << what;
    ASSERT_EQ(a.error_excerpt, b.error_excerpt) << what;
  }
}

// Small limits, so that small documents meet every rule.
GateOptions tight() {
  GateOptions options;
  options.max_inline_size = 300;
  options.max_document_chars = 900;
  options.min_run_chars = 100;
  options.max_segments = 12;
  return options;
}

std::vector<std::string> fixtures() {
  const std::string pdf = bytes_like("%PDF-1.4\n", 181);
  const std::string noise = bytes_like("", 400);
  std::string spelled;
  for (const char c : base64(pdf))
    spelled += c == '/'   ? std::string("\\/")
               : c == '+' ? std::string("\\u002B")
                          : std::string(1, c);
  std::string array = "[";
  for (const char c : bytes_like("%PDF-1.4\n", 90))
    array += std::to_string(static_cast<uint8_t>(c)) + ", ";
  array.resize(array.size() - 2);
  std::string pairs;
  for (const char c : pdf) pairs += "\\x" + hex(std::string(1, c));
  std::string surrogates;
  for (int i = 0; i < 100; ++i) surrogates += "\\ud83d\\ud83d\\ude00\\udbff\\ude00";
  std::string prose;
  for (int i = 0; i < 25; ++i)
    prose += "Long \\\"text\\\" \\ud83d\\ude00 na\u00EFve \\u00e9 line\\n";
  const auto in = [](const std::string& text) {
    return "{\"a\":" + as_json(text) + ",\"b\":[1,true,null]}";
  };
  return {
      in(base64(pdf)),
      in("x " + base64(pdf, true, false) + " y"),
      in("see " + wrap(base64(pdf), 60) + "\nRegards"),
      in("a: |\n  " + wrap(base64(pdf), 20, "\r\n  ") + "\n"),
      in(in(wrap(base64(pdf), 19))),
      in(in(in("data:application/pdf;base64," + base64(pdf)))),
      "{\"a\":\"" + spelled + "\"}",
      in("\\x" + hex(pdf)),
      in("0x" + hex(pdf)),
      in("p " + pairs + " \\x41\\x4 end"),
      in(in(pairs)),
      in(wrap(hex(pdf), 40)),
      "{\"type\":\"Buffer\",\"data\":" + array + "]}",
      "{\"x\":" + array + "]}",
      "[\"x\",\"" + wrap(base64(pdf), 30, "\",\"") + "\",\"y\"]",
      "[\"" + wrap(base64(pdf), 61, "\" ,\n\"") + "\",\"Regards\",\"" + base64(noise) + "\"]",
      in("[\"" + wrap(base64(pdf), 30, "\", \"") + "\",\"y\"]"),
      in(in("{\"l\":[\"" + wrap(base64(pdf), 77, "\",\"") + "\",\"" + base64(pdf) + "\"]}")),
      "{\"x\":" + array + ",\"y\"]}",
      in("{\"x\":" + array + "]}"),
      in(in("{\"x\":" + array + ", -1]}")),
      "{\"a\":\"" + prose + "\"}",
      "{\"a\":\"" + surrogates + "\"}",
      "[\"" + prose + base64(pdf) + prose + "\",\"" + prose + "\"]",
      in(base64(noise)),
      in("-----BEGIN X-----\n" + wrap(base64(noise), 64) + "\n-----END X-----\n" + base64(pdf)),
      in(std::string(299, 'x')),
      in(std::string(300, 'x')),
      in(std::string(301, 'x')),
      in("C:\\new\\table\\" + base64(pdf) + "\\\\"),
      in("JVBERi0xLjQ\nJVBERi0xLjQJVBERi0xLjQ\n" + wrap(base64(pdf), 40)),
      "[[1,2,3],{\"k\":[{\"id\":1,\"name\":\"a\"}]},-0.5e+3,\"\\u0041\",[]]",
      "{\"a\":1,}",
      "[1 2]",
      "\"\\q\"",
      "nul",
      "[01]",
      "\"\x01\"",
      "{\"a\" 1}",
      "[1]]",
      "",
      "  ",
      "\"abc",
  };
}

std::string rows(int count) {
  std::string out = "{\"content\":[{\"type\":\"text\",\"text\":\"hi\"}],\"rows\":[";
  for (int i = 0; i < count; ++i) {
    if (i > 0) out += ',';
    out += "{\"id\":" + std::to_string(i) + ",\"name\":\"item\",\"blob\":";
    out += i % 7 == 3 ? as_json(base64(bytes_like("%PDF-1.4\n", 90, static_cast<uint32_t>(i))))
                      : "null";
    out += '}';
  }
  return out + "],\"last\":[1,2,3]}";
}

TEST(GateChunks, EverySplitPointOfSmallDocuments) {
  for (const std::string& json : fixtures()) {
    const Passed whole = pass(json, tight());
    for (size_t at = 0; at <= json.size(); at += kSplitStep) {
      expect_same(whole, pass_split(json, tight(), at),
                  json.substr(0, 60) + " split at " + std::to_string(at));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(GateChunks, EverySplitPointOfDocumentsOfEightKilobytes) {
  const std::string pdf = bytes_like("%PDF-1.4\n", 2'200);
  std::string array;
  for (const char c : pdf)
    array += (array.empty() ? "[" : ",") + std::to_string(static_cast<uint8_t>(c));
  const std::string text =
      "see " + wrap(base64(pdf), 76) + "\n and data:image/png;base64," + base64(pdf);
  const std::vector<std::string> documents = {
      "{\"content\":[{\"type\":\"text\",\"text\":" + as_json("{\"a\":" + as_json(text) + "}") +
          "}]}",
      "{\"type\":\"Buffer\",\"data\":" + array + "]}",
  };
  for (const std::string& json : documents) {
    ASSERT_LE(json.size(), 8'192u);
    const Passed whole = pass(json);
    ASSERT_FALSE(whole.segments.empty());
    for (size_t at = 0; at <= json.size(); at += kSplitStep) {
      expect_same(whole, pass_split(json, {}, at),
                  json.substr(0, 60) + " split at " + std::to_string(at));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(GateChunks, BlockSizesUpTo258) {
  std::vector<std::string> documents = fixtures();
  documents.push_back(rows(200));
  documents.push_back(rows(20));
  for (const std::string& json : documents) {
    const Passed whole = pass(json, tight());
    for (size_t block = 1; block <= 258; block += kSplitStep) {
      expect_same(whole, pass(json, tight(), block),
                  json.substr(0, 60) + " in blocks of " + std::to_string(block));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(GateChunks, RestoringGivesTheOriginal) {
  std::vector<std::string> documents = fixtures();
  for (const int count : {1, 5, 20, 60, 200}) documents.push_back(rows(count));
  for (const std::string& json : documents) {
    const Passed whole = pass(json, tight());
    if (!whole.status.ok()) continue;
    EXPECT_EQ(normal(restore(whole)), normal(json)) << json.substr(0, 60);
  }
}

}  // namespace
}  // namespace sluice::testing
