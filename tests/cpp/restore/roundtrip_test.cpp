// restore(mcp(x)) = x.
#include <gtest/gtest.h>

#include "layers/layers_fixture.h"

namespace {

using namespace sluice;
using namespace sluice::layers_test;

Form in_lines() {
  Form form;
  form.column = 16;
  form.separator = "\n";
  return form;
}

Form as_bytes_of_array() {
  Form form;
  form.encoding = Encoding::byte_array;
  form.separator = ", ";
  form.prefix = "[";
  form.suffix = "]";
  return form;
}

class RestoreRoundTrip : public ::testing::Test {
 protected:
  Bench bench;

  // Writes the mcp dialect, restores it, and compares with what was there before the gate.
  void expect_back(const std::string& reduced) { expect_back(reduced, bench.original(reduced)); }
  void expect_back(const std::string& reduced, const std::string& original) {
    const std::string written = bench.mcp(reduced);
    EXPECT_TRUE(bench.layers->changed()) << written;
    EXPECT_EQ(written.find_first_of("\x01\x02"), std::string::npos) << written;
    EXPECT_EQ(normal(bench.restore(written)), normal(original)) << written;
  }

  std::string run(Form form = {}) { return bench.run(pdf(), "application/pdf", std::move(form)); }
  static std::string text_block(const std::string& text) {
    return "{\"type\":\"text\",\"text\":\"" + text + "\"}";
  }
};

TEST_F(RestoreRoundTrip, RunsInText) {
  const std::string a = run();
  const std::string b = run(in_lines());
  expect_back("{\"content\":[" + text_block("a " + a + " \\u00e9 \\\" " + b + " " + a) + "]}");
}

TEST_F(RestoreRoundTrip, ReplacedBlocks) {
  const std::string a = run();
  const std::string b = bench.run(png(), "image/png");
  const std::string c = bench.text("a \"long\" text\n");
  expect_back("{\"content\":[{\"type\":\"image\",\"data\":\"" + b +
              "\",\"mimeType\":\"image/png\",\"_meta\":{\"x\":[1]}}," + text_block(c) +
              ",{\"type\":\"resource\",\"resource\":{\"uri\":\"x:y\",\"blob\":\"" + a +
              "\"}}],\"_meta\":{\"mine\":1},\"isError\":false}");
}

TEST_F(RestoreRoundTrip, StructureInBothHalves) {
  const std::string a = run();
  const std::string b = run();
  expect_back("{\"content\":[" + text_block("{\\\"p\\\":\\\"" + a + "\\\"}") +
              "],\"structuredContent\":{\"p\":\"" + b + "\"}}");
}

TEST_F(RestoreRoundTrip, ValuesThatWereNoStrings) {
  const std::string a = run(as_bytes_of_array());
  const std::string b = bench.json("{\"rows\":[1, 2.50, \"x\"]}");
  expect_back("{\"structuredContent\":{\"bytes\":\"" + a + "\",\"tree\":\"" + b + "\"}}");
}

TEST_F(RestoreRoundTrip, CollapsedRootContentAndBlocks) {
  const std::string root = bench.json("{\"content\":[],\"k\":1}");
  expect_back("\"" + root + "\"");
  const std::string content = bench.json("[{\"type\":\"text\",\"text\":\"a\"}]");
  expect_back("{\"content\":\"" + content + "\"}");
  const std::string structured = bench.json("{\"n\":[1]}");
  expect_back("{\"content\":\"" + content + "\",\"structuredContent\":\"" + structured + "\"}");
  const std::string block = bench.json("{\"type\":\"text\",\"text\":\"b\"}");
  expect_back("{\"content\":[" + text_block("a") + ",\"" + block + "\"]}");
}

TEST_F(RestoreRoundTrip, ResourcesRead) {
  const std::string a = run();
  const std::string b = bench.text("long, long");
  expect_back("{\"contents\":[{\"uri\":\"x:y\",\"blob\":\"" + a +
              "\"},{\"uri\":\"x:z\",\"text\":\"" + b + "\",\"mimeType\":\"text/csv\"}]}");
}

TEST_F(RestoreRoundTrip, Envelope) {
  const std::string a = run();
  expect_back("{\"jsonrpc\":\"2.0\",\"id\":\"7\",\"result\":{\"content\":[" + text_block(a) +
              "]}}");
}

TEST_F(RestoreRoundTrip, LiteralReferencesOfTheServerSurvive) {
  const std::string a = run();
  const std::string same = reference(bench.last(), Bench::id(pdf()), true);
  expect_back("{\"content\":[" +
              text_block(same + " " + a + " " + same + " artifact:\\/\\/x " + a) +
              "],\"structuredContent\":{\"p\":\"" + same + "\",\"q\":\"" + a + "\"}}");
}

TEST_F(RestoreRoundTrip, OneUriThatBeginsLikeAnother) {
  const std::string a = bench.run("1234", "text/x");
  const std::string b = bench.run("1234", "text/x", in_lines());
  expect_back("{\"content\":[" + text_block(b + a + b + " " + a) + "]}");
}

TEST_F(RestoreRoundTrip, KeysAndDuplicates) {
  const std::string a = run();
  const std::string b = run(in_lines());
  expect_back("{\"structuredContent\":{\"x\":\"" + a + "\",\"x\":{\"y\":\"" + b + "\",\"y\":\"" +
              a + "\"},\"x\":1,\"a~/" + a + "\":{\"k\":\"" + b + "\"},\"\":\"" + a + "\"}}");
}

TEST_F(RestoreRoundTrip, MetaOfEveryKind) {
  const std::string a = run();
  const std::string content = "{\"content\":[" + text_block(a) + "]";
  expect_back(content + "}");
  expect_back(content + ",\"_meta\":{}}");
  expect_back(content + ",\"_meta\":{\"x\":\"" + a + "\"}}");
  expect_back(content + ",\"_meta\":7}");
  expect_back(content + ",\"_meta\":{\"sluice/refs\":[\"" + a + "\"],\"x\":1}}");
  expect_back("{\"_meta\":{\"x\":1},\"structuredContent\":{\"p\":\"" + a + "\"}}");
}

TEST_F(RestoreRoundTrip, PlainObject) {
  const std::string a = run();
  expect_back("{\"p\":\"" + a + "\",\"rows\":[{\"q\":\"x " + a + "\"}]}");
}

TEST_F(RestoreRoundTrip, NonObjectsNeedTheListFromTheHost) {
  const std::string a = run();
  const std::string b = bench.run(png(), "image/png");
  for (const std::string& reduced : {"[\"" + a + "\",{\"x\":\"" + a + "\"}]", "\"" + a + "\"",
                                     "[{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"" +
                                         b + "\"}," + text_block("x " + a) + "]"}) {
    const std::string written = bench.mcp(reduced);
    std::vector<Piece> pieces;
    const Status status = restore_pieces(written, bench.layers->refs_json(), pieces);
    ASSERT_TRUE(status.ok()) << status.message << written << bench.layers->refs_json();
    EXPECT_EQ(normal(bench.join(pieces)), normal(bench.original(reduced))) << written;
  }
}

TEST_F(RestoreRoundTrip, ReferencesInsideStoredTexts) {
  Segment inner;
  inner.bytes = 40;
  inner.mime_type = "application/pdf";
  inner.form = in_lines();
  run(in_lines());
  const std::string uri = reference(inner, Bench::id(pdf()), true);
  const std::string m =
      bench.text("é " + uri + " end", "[" + inner_ref(inner, Bench::id(pdf()), 3) + "]");
  const std::string text = "é " + written(in_lines(), pdf()) + " end";
  std::string escaped;
  append_escaped(escaped, text);
  expect_back("{\"content\":[" + text_block(m) + "]}",
              "{\"content\":[" + text_block(escaped) + "]}");
}

TEST_F(RestoreRoundTrip, ValuesInsideStoredJson) {
  const std::string array = run(as_bytes_of_array());
  const std::string uri = reference(bench.last(), Bench::id(pdf()), true);
  const std::string source = "{\"b\":\"" + uri + "\",\"n\":1}";
  const std::string m =
      bench.json(source, "[" + inner_ref(bench.segment(0), Bench::id(pdf()), 6) + "]");
  expect_back("{\"structuredContent\":{\"t\":\"" + m + "\"}}",
              "{\"structuredContent\":{\"t\":{\"b\":" + written(as_bytes_of_array(), pdf()) +
                  ",\"n\":1}}}");
}

TEST_F(RestoreRoundTrip, QuotedBytesInJsonText) {
  const std::string a = run(as_bytes_of_array());
  bench.last().bare = bench.last().whole = false;
  const std::string b = run(as_bytes_of_array());
  bench.last().bare = bench.last().whole = false;
  const std::string reduced =
      "{\"content\":[" +
      text_block("{\\\"a\\\":\\\"{\\\\\\\"data\\\\\\\": " + a + "}\\\",\\\"b\\\":" + b + "}") +
      "]}";
  expect_back(reduced);
  Tape inner;
  EXPECT_TRUE(Tape::parse(string_at(bench.mcp(reduced), {"content", "0", "text"}), inner).ok());
}

TEST_F(RestoreRoundTrip, ShortFieldsAndBlocks) {
  bench.config.tool_fields["fetch"] = {{"v", "pdf", "", ""}, {"w", "text", "", ""}};
  const std::string wrapped = written(in_lines(), pdf());
  std::string escaped;
  append_escaped(escaped, wrapped);
  const std::string value = "{\"v\":\"" + escaped + "\",\"w\":\"two\\nlines\"}";
  expect_back("{\"structuredContent\":" + value + "}");
  std::string nested;
  append_escaped(nested, "{\"v\":\"JVBERi0xLjQ\\/x\\/\",\"w\":\"plain words\"}");
  expect_back("{\"content\":[" + text_block(nested) + "]}");
  expect_back("{\"content\":[{\"type\":\"audio\",\"mimeType\":\"audio/x\",\"data\":\"" + escaped +
              "\\n\"}]}");
}

TEST_F(RestoreRoundTrip, ImagesThatCameBack) {
  bench.shows = true;
  const std::string image = ",\"mimeType\":\"image/png\",\"type\":\"image\"}";
  expect_back("{\"content\":[{\"data\":\"" + base64(png()) + "\"" + image + ",{\"data\":\"" +
              base64(png(50)) + "\"" + image + "]}");
}

TEST_F(RestoreRoundTrip, SurvivesAnotherWriter) {
  const std::string a = run();
  const std::string reduced =
      "{\"content\":[" + text_block("x & " + a) + "],\"structuredContent\":{\"p\":\"" + a + "\"}}";
  std::string written = bench.mcp(reduced);
  for (const auto& [plain, escape] :
       {std::pair<std::string, std::string>{"&", "\\u0026"}, {"/", "\\/"}}) {
    for (size_t at = 0; (at = written.find(plain, at)) != std::string::npos; at += escape.size()) {
      written.replace(at, plain.size(), escape);
    }
  }
  EXPECT_EQ(normal(bench.restore(written)), normal(bench.original(reduced))) << written;
}

TEST_F(RestoreRoundTrip, SurvivesSortedKeys) {
  const std::string a = run();
  const std::string written = bench.mcp("{\"structuredContent\":{\"p\":\"" + a + "\"}}");
  const std::string sorted = "{\"_meta\":" + at(written, {"_meta"}) +
                             ",\"content\":" + at(written, {"content"}) +
                             ",\"structuredContent\":" + at(written, {"structuredContent"}) + "}";
  EXPECT_EQ(normal(bench.restore(sorted)),
            normal(bench.original("{\"structuredContent\":{\"p\":\"" + a + "\"}}")));
}

TEST_F(RestoreRoundTrip, Lines) {
  const std::string a = run();
  const std::string first = "{\"content\":[" + text_block(a) + "]}";
  const std::string second = "{\"p\":\"" + a + "\"}";
  const std::string lines = bench.mcp(first) + "\n\n[1]\n" + bench.mcp(second) + "\n";
  EXPECT_EQ(bench.restore(lines),
            bench.original(first) + "\n\n[1]\n" + bench.original(second) + "\n");
}

// Numbers from a fixed seed, so that a failure can be had again.
class Dice {
 public:
  explicit Dice(uint32_t seed) : state_(seed) {}
  uint32_t roll(uint32_t sides) {
    state_ = state_ * 1664525u + 1013904223u;
    return (state_ >> 8) % sides;
  }

 private:
  uint32_t state_;
};

TEST_F(RestoreRoundTrip, GeneratedDocuments) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    bench = Bench();
    Dice dice(seed);
    const auto piece = [&]() -> std::string {
      switch (dice.roll(7)) {
        case 0:
          return run();
        case 1:
          return run(in_lines());
        case 2:
          return "artifact://" + Bench::id(pdf()) + "?type=application/pdf&size=40";
        case 3:
          return "\\\"\\u00e9\\ud83d\\ude00";
        case 4:
          return "artifact:\\/\\/";
        default:
          return "ab~/ ";
      }
    };
    const auto string = [&] {
      std::string out = "\"";
      for (uint32_t left = dice.roll(5); left > 0; --left) out += piece();
      return out + "\"";
    };
    const auto value = [&](auto&& self, int depth) -> std::string {
      const uint32_t kind = dice.roll(depth > 3 ? 4 : 8);
      if (kind == 0) return "\"" + bench.json("{\"a\":[1,\"x\"]}") + "\"";
      if (kind == 1) return "\"" + run(as_bytes_of_array()) + "\"";
      if (kind == 2) return "\"" + bench.text("words \"and\" \n lines") + "\"";
      if (kind < 5) return string();
      std::string out = kind < 7 ? "{" : "[";
      for (uint32_t left = dice.roll(4), i = 0; i < left; ++i) {
        if (i > 0) out += ",";
        if (kind < 7) out += (dice.roll(3) == 0 ? string() : std::string("\"k\"")) + ":";
        out += self(self, depth + 1);
      }
      return out + (kind < 7 ? "}" : "]");
    };
    std::string reduced = "{\"structuredContent\":" + value(value, 0) + ",\"content\":[";
    for (uint32_t left = dice.roll(4), i = 0; i < left; ++i) {
      if (i > 0) reduced += ",";
      reduced += dice.roll(2) == 0
                     ? "{\"type\":\"text\",\"text\":" + string() + "}"
                     : "{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"" +
                           bench.run(png(), "image/png") + "\",\"x\":" + value(value, 2) + "}";
    }
    reduced += "],\"other\":" + value(value, 1) + "}";
    const std::string original = bench.original(reduced);
    const std::string written = bench.mcp(reduced);
    ASSERT_EQ(normal(bench.restore(written)), normal(original)) << seed << "\n" << written;
  }
}

}  // namespace
