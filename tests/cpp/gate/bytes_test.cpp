// Bytes in the spellings of real programs: found, put back to the character,
// however they are cut.
#include <gtest/gtest.h>

#include "gate/gate_fixture.h"
#include "sluice/codec.h"
#include "split_step.h"

namespace sluice::testing {
namespace {

GateOptions tight() {
  GateOptions options;
  options.max_inline_size = 300;
  options.max_document_chars = 2'000;
  options.min_run_chars = 100;
  return options;
}

const std::string& png() {
  // With quotes, backslashes and line feeds.
  static const std::string bytes =
      bytes_like("\x89PNG\r\n\x1A\n", 200) + "'\"\\\n'" + bytes_like("\"'\\", 61, 5);
  return bytes;
}

// What a writer of JSON makes of it, a number of levels down.
std::string nested(std::string text, int levels) {
  for (int i = 0; i < levels; ++i) text = as_json(text);
  return text;
}

std::string object_of(std::string_view bytes, std::string_view comma, std::string_view colon) {
  std::string out = "{";
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0) out += comma;
    out += '"' + std::to_string(i) + '"' + std::string(colon);
    out += std::to_string(static_cast<uint8_t>(bytes[i]));
  }
  return out + "}";
}

std::string signed_of(std::string_view bytes) {
  std::string out = "[";
  for (const char c : bytes) out += (out.size() > 1 ? ", " : "") + std::to_string(int8_t(c));
  return out + "]";
}

std::string python_of(std::string_view bytes, char quote = '\'') {
  std::string out = std::string("b") + quote;
  for (const char c : bytes) append_python(out, static_cast<uint8_t>(c), quote, 1);
  return out + quote;
}

std::string dump_of(std::string_view bytes) {
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += 16) {
    append_dump_line(out, bytes.substr(at, 16), at, 1);
    out += '\n';
  }
  return out;
}

std::string latin1_of(std::string_view bytes) {
  std::string out;
  FormWriter writer(*parse_form("latin1", ""));
  writer.write(bytes, out);
  return out;
}

// A file as the lines of a notebook.
std::string lines_of(std::string_view bytes, bool last_feed, std::string_view indent) {
  const std::string feed = as_json("\n").substr(1, 2);
  std::string out = "[\"" + wrap(base64(bytes), 76, feed + "\"," + std::string(indent) + "\"");
  return out + (last_feed ? feed : "") + "\"]";
}

struct Spelling {
  std::string json;
  std::string bytes;
};

std::vector<Spelling> spellings() {
  std::vector<Spelling> all;
  const auto add = [&](const std::string& value, const std::string& bytes) {
    all.push_back({"{\"a\":1,\"v\":" + value + ",\"z\":\"end\"}", bytes});
  };
  const std::string& bytes = png();
  for (const int levels : {0, 1, 2}) {
    const auto within = [&](const std::string& json) {
      return levels == 0 ? json : nested("{\"k\":" + json + ",\"l\":2}", levels);
    };
    add(within(object_of(bytes, ",", ":")), bytes);
    add(within(object_of(bytes, ",\n  ", ": ")), bytes);
    add(within("{ " + object_of(bytes, ", ", ": ").substr(1)), bytes);
    add(within(signed_of(bytes)), bytes);
    add(within(as_json(python_of(bytes))), bytes);
    add(within(as_json("it is bytearray(" + python_of(bytes) + ") here")), bytes);
    add(within(as_json(python_of(bytes, '"').replace(0, 0, "x = "))), "");
    add(within(as_json(dump_of(bytes))), bytes);
    add(within(as_json(dump_of(bytes.substr(0, 160)))), bytes.substr(0, 160));
    add(within(lines_of(bytes, true, "")), bytes);
    add(within(lines_of(bytes, false, "\n   ")), bytes);
  }
  add(as_json(latin1_of(bytes)), bytes);
  add(as_json(latin1_of(bytes_like("%PDF-1.4\n%\xE2\xE3", 300))),
      bytes_like("%PDF-1.4\n%\xE2\xE3", 300));
  const std::string plain = bytes_like("%PDF-1.4\n%\xE2\xE3'", 100);
  std::string without;
  for (const char c : plain) without += c == '"' ? '_' : c;
  add(as_json("(" + python_of(without, '"') + ")"), without);
  add(as_json("\\x" + hex(bytes)), bytes);
  add(as_json("0x" + hex(bytes)), bytes);
  return all;
}

TEST(GateBytes, AreFoundInEverySpelling) {
  for (const Spelling& spelling : spellings()) {
    if (spelling.bytes.empty()) continue;
    const Passed passed = pass(spelling.json, tight());
    ASSERT_TRUE(passed.status.ok()) << spelling.json;
    size_t runs = 0;
    for (size_t i = 0; i < passed.segments.size(); ++i) {
      if (passed.segments[i].kind != SegmentKind::run) continue;
      EXPECT_TRUE(passed.contents[i] == spelling.bytes) << spelling.json.substr(0, 200);
      ++runs;
    }
    EXPECT_EQ(runs, 1u) << spelling.json.substr(0, 300) << "\n" << passed.reduced;
  }
}

std::vector<std::string> documents() {
  std::vector<std::string> all;
  for (const Spelling& spelling : spellings()) all.push_back(spelling.json);
  const std::string& bytes = png();
  const std::string object = object_of(bytes, ", ", ": ");
  // Broken off, or something else behind it.
  all.push_back("{\"v\":" + object.substr(0, object.size() - 1) + ", \"name\": \"x\"}}");
  all.push_back("{\"v\":" + object.substr(0, object.size() - 1) + ", \"900\": 1}, \"w\":[]}");
  all.push_back("{\"v\":" + object.substr(0, object.size() - 1) + ", \"261\": 256}}");
  all.push_back(nested("{\"v\":" + object.substr(0, object.size() - 1) + ", \"n\": -1}}", 1));
  all.push_back("[" + signed_of(bytes).insert(1, "1, ") + "," + signed_of("\x89PNG\r\n\x1A\n") +
                ",[-1.5,2]]");
  all.push_back("{\"v\":" + as_json(python_of(bytes).substr(0, 400)) + "}");
  all.push_back("{\"v\":" + as_json(python_of(bytes).substr(0, 400) + "\\x4 and " + "b'abc'") +
                "}");
  all.push_back("{\"v\":" + as_json(dump_of(bytes).substr(0, 500) + "\n00000000: 12") + "}");
  all.push_back("{\"v\":" + as_json(dump_of(bytes) + "that was it") + "}");
  all.push_back("{\"v\":" + as_json(latin1_of(bytes) + "\xE2\x82\xAC") + "}");
  all.push_back("{\"v\":" + as_json(latin1_of("caf\xE9 ol\xE9 ") + std::string(400, 'x')) + "}");
  all.push_back("{\"v\":" + lines_of(bytes, true, "").insert(2, "QUJD") + "}");
  all.push_back("{\"v\":[\"" + base64(bytes) + "\\n\",\"" + base64(bytes) + "\\n\"]}");
  return all;
}

TEST(GateBytes, RestoringGivesTheOriginal) {
  for (const std::string& json : documents()) {
    const Passed passed = pass(json, tight());
    ASSERT_TRUE(passed.status.ok()) << json;
    ASSERT_EQ(normal(restore(passed)), normal(json)) << json << "\n" << passed.reduced;
    for (const Segment& segment : passed.segments) {
      if (segment.kind != SegmentKind::run) continue;
      const std::string name = form_name(segment.form, segment.mime_type);
      EXPECT_TRUE(parse_form(name, segment.mime_type) == segment.form) << name;
    }
  }
}

TEST(GateBytes, HoweverTheyAreCut) {
  for (const std::string& json : documents()) {
    const Passed whole = pass(json, tight());
    const auto expect_same = [&](const Passed& cut, size_t at) {
      ASSERT_EQ(cut.reduced, whole.reduced) << json.substr(0, 200) << " at " << at;
      ASSERT_TRUE(cut.contents == whole.contents) << json.substr(0, 200) << " at " << at;
      for (size_t i = 0; i < whole.segments.size(); ++i) {
        ASSERT_TRUE(cut.segments[i].form == whole.segments[i].form) << json.substr(0, 200);
        ASSERT_EQ(cut.segments[i].chars, whole.segments[i].chars) << json.substr(0, 200);
        ASSERT_EQ(cut.segments[i].bare, whole.segments[i].bare) << json.substr(0, 200);
      }
    };
    for (size_t at = 0; at <= json.size(); at += kSplitStep * (at < 400 ? 1 : 11)) {
      expect_same(pass_split(json, tight(), at), at);
      if (HasFatalFailure()) return;
    }
    for (const size_t size : {1, 2, 5, 64, 1000}) expect_same(pass(json, tight(), size), size);
    if (HasFatalFailure()) return;
  }
}

// Short ones are read where they are, as are numbers that are no bytes.
TEST(GateBytes, ShortOnesStay) {
  const std::string some = png().substr(0, 12);
  for (const std::string& value :
       {object_of(some, ",", ":"), signed_of(some), as_json(python_of(some)),
        as_json(latin1_of(some)), as_json(dump_of(some)), object_of(std::string(80, 'a'), ",", ":"),
        as_json(python_of(std::string(200, 'a'))), std::string("{\"0\":{\"id\":1},\"1\":2}"),
        as_json("caf\u00e9 " + std::string(150, 'x'))}) {
    const std::string json = "{\"v\":" + value + "}";
    EXPECT_EQ(pass(json, tight()).reduced, json);
  }
}

TEST(GateBytes, ALongSeriesOfDecimalsLeavesAndIsTold) {
  std::string series, short_one, integers;
  for (int i = 0; i < 1'536; ++i) {
    const std::string number = (i % 3 == 0 ? "-0.0" : "0.0") + std::to_string(100'000 + i);
    series += (i > 0 ? "," : "") + number;
    if (i < 256) short_one += (i > 0 ? "," : "") + number;
    integers += (i > 0 ? "," : "") + std::to_string(i);
  }
  const std::string row =
      "{\"id\":\"a\",\"embedding\":[" + series + "],\"ids\":[" + integers + "]}";
  const std::string json = "{\"rows\":[" + row + "," + row + "],\"few\":[" + short_one + "]}";
  const Passed passed = pass(json);
  ASSERT_EQ(passed.segments.size(), 2u) << passed.reduced;
  EXPECT_TRUE(passed.contents[0] == "[" + series + "]");
  EXPECT_EQ(passed.segments[0].description,
            "JSON, 15.5 KB: array of 1,536 numbers from -0.0101533 to "
            "0.0101535, the first "
            "-0.0100000, 0.0100001, 0.0100002");
  EXPECT_EQ(passed.segments[0].excerpt, "");
  EXPECT_NE(passed.reduced.find("\"ids\":[" + integers), std::string::npos);
  EXPECT_NE(passed.reduced.find("\"few\":[" + short_one), std::string::npos);
  EXPECT_EQ(normal(restore(passed)), normal(json));
  for (const size_t size : {1, 100, 4'096}) EXPECT_EQ(pass(json, {}, size).reduced, passed.reduced);
}

}  // namespace
}  // namespace sluice::testing
