#include <gtest/gtest.h>

#include "layers/layers_fixture.h"
#include "sluice/gate.h"

namespace sluice {
namespace {

// --- what restore is given comes from a document: it is checked, never believed ------------------

Code code_of(const std::string& json) {
  std::vector<Piece> pieces;
  return restore_pieces(json, pieces).code;
}

std::string with_refs(const std::string& refs, const std::string& more = "\"v\":\"artifact://a\"") {
  return "{" + more + ",\"_meta\":{\"sluice/refs\":" + refs + "}}";
}

TEST(RestorePieces, DocumentWithoutRefsIsOneLiteral) {
  const std::string json = R"( {"v":"artifact://a","_meta":{}} )";
  std::vector<Piece> pieces;
  ASSERT_TRUE(restore_pieces(json, pieces).ok());
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].literal, json);
}

TEST(RestorePieces, ReferenceInAStringIsCutOut) {
  std::vector<Piece> pieces;
  const std::string uri = "artifact://ns_1?type=image/png&size=3&form=base64url-nopad";
  ASSERT_TRUE(
      restore_pieces(
          with_refs("[{\"at\":\"/v\",\"uri\":\"" + uri + "\"}]", "\"v\":\"a " + uri + "\""), pieces)
          .ok());
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[0].literal, "{\"v\":\"a ");
  EXPECT_EQ(pieces[1].kind, Piece::Kind::bytes);
  EXPECT_EQ(pieces[1].id, "ns_1");
  EXPECT_EQ(pieces[1].form.encoding, Encoding::base64url);
  EXPECT_FALSE(pieces[1].form.padded);
  EXPECT_EQ(pieces[2].literal, "\",\"_meta\":{}}");
}

TEST(RestorePieces, WhatDoesNotFitIsAnError) {
  for (const std::string& refs : {
           std::string("7"),
           std::string("[7]"),
           std::string("[{}]"),
           std::string(R"([{"at":"/v"}])"),
           std::string(R"([{"at":"/w","uri":"artifact://a"}])"),
           std::string(R"([{"at":"v","uri":"artifact://a"}])"),
           std::string(R"([{"at":"/v~2","uri":"artifact://a"}])"),
           std::string(R"([{"at":"/v","uri":"artifact://b"}])"),
           std::string(R"([{"at":"/v","uri":"artifact://a","n":1}])"),
           std::string(R"([{"at":"/v","uri":"artifact://a","n":-1}])"),
           std::string(R"([{"at":"/v","uri":"artifact://a","kind":"file"}])"),
           std::string(R"([{"at":"/v","uri":"artifact://a","wrap":"\""}])"),
           std::string(R"([{"at":"/v","uri":"artifact://a","added":true}])"),
           std::string(R"([{"at":"/v","uri":"artifact://a"},{"at":"/v","uri":"artifact://a"}])"),
           std::string(R"([{"at":"/v","added":true},{"at":"/v","was":1}])"),
           std::string(R"([{"at":"/v","was":1},{"at":"/v","was":2}])"),
           std::string(R"([{"at":"","added":true}])"),
           std::string(R"([{"at":"","uri":"artifact://a"}])"),
           std::string(R"([{"at":"","uri":"artifact://a","key":true}])"),
           std::string(R"([{"at":"/v","was":{},"refs":7}])"),
       }) {
    EXPECT_EQ(code_of(with_refs(refs)), Code::restore_refs) << refs;
  }
}

TEST(RestorePieces, BrokenJsonSaysWhere) {
  std::vector<Piece> pieces;
  const Status status = restore_pieces("{\"a\":1}\n{\"b\":tru}\n", pieces);
  EXPECT_EQ(status.code, Code::json_syntax);
  EXPECT_EQ(status.line, 2u);
  EXPECT_EQ(code_of("{\"a\":"), Code::json_end);
}

TEST(RestorePieces, NestingIsBounded) {
  std::string refs = R"([{"at":"","was":1}])";
  for (int i = 0; i < 40; ++i) refs = R"([{"at":"","was":1,"refs":)" + refs + "}]";
  EXPECT_EQ(code_of(with_refs(refs)), Code::restore_refs);
}

TEST(RestorePieces, WhatOthersWroteIntoOurMetaStays) {
  std::vector<Piece> pieces;
  ASSERT_TRUE(restore_pieces(
                  R"({"v":1,"_meta":{"x":2,"sluice/refs":[{"at":"/_meta","added":true}]}})", pieces)
                  .ok());
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].literal, R"({"v":1,"_meta":{"x":2}})");
}

TEST(RestorePieces, NameOfTheEntriesIsTakenOutWhereTheyAreNamed) {
  const auto named = [](const std::string& meta, const std::string& refs, bool is_named = true) {
    std::vector<Piece> pieces;
    const std::string json = "{\"v\":1,\"_meta\":" + meta + "}";
    return restore_pieces(json, refs, pieces, is_named).ok() ? pieces.front().literal : "(error)";
  };
  const std::string added = R"([{"at":"/_meta","added":true}])";
  EXPECT_EQ(named(R"({"sluice/refs":"n_1"})", added), R"({"v":1})");
  EXPECT_EQ(named(R"({"x":2,"sluice/refs":"n_1"})", added), R"({"v":1,"_meta":{"x":2}})");
  EXPECT_EQ(named(R"({"sluice/refs":"n_1","x":2})", "[]"), R"({"v":1,"_meta":{"x":2}})");
  EXPECT_EQ(
      named(R"({"sluice/refs":"n_1"})", R"([{"at":"/_meta/sluice~1refs","was":"the server's"}])"),
      R"({"v":1,"_meta":{"sluice/refs":"the server's"}})");
  EXPECT_EQ(named(R"({"sluice/refs":"n_1"})", "[]", false),
            R"({"v":1,"_meta":{"sluice/refs":"n_1"}})");
  EXPECT_EQ(named(R"({"sluice/refs":"n_1"})", R"([{"at":"/w","added":true}])"), "(error)");
}

TEST(RestorePieces, ManyReferencesTakeLinearTime) {
  std::string value;
  std::string refs = "[";
  for (int i = 0; i < 20'000; ++i) {
    value += "artifact://a ";
    refs += std::string(i > 0 ? "," : "") +
            "{\"at\":\"/v\",\"uri\":\"artifact://a\",\"n\":" + std::to_string(i) + "}";
  }
  std::vector<Piece> pieces;
  ASSERT_TRUE(restore_pieces(with_refs(refs + "]", "\"v\":\"" + value + "\""), pieces).ok());
  EXPECT_EQ(pieces.size(), 40'001u);
}

TEST(RestoreText, ReferencesAreFoundByOffset) {
  std::vector<Piece> pieces;
  ASSERT_TRUE(restore_text_pieces("a \"artifact://x\"", R"([{"offset":3,"uri":"artifact://x"}])",
                                  false, "", pieces)
                  .ok());
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[0].literal, "a \\\"");
  EXPECT_EQ(pieces[2].literal, "\\\"");
}

TEST(RestoreText, WrongListIsAnError) {
  std::vector<Piece> pieces;
  for (const char* refs :
       {"{}", "[1]", R"([{"offset":1,"uri":"artifact://x"}])",
        R"([{"offset":0,"uri":"artifact://y"}])", R"([{"offset":-1,"uri":"a"}])",
        R"([{"offset":999999999999,"uri":"artifact://x"}])",
        R"([{"offset":0,"uri":"artifact://x"},{"offset":0,"uri":"artifact://x"}])"}) {
    EXPECT_EQ(restore_text_pieces("artifact://x", refs, true, "", pieces).code, Code::restore_refs)
        << refs;
  }
}

// --- the whole way: gate, layers, restore --------------------------------------------------------

using namespace sluice::layers_test;

/// A host with its store.
class RestoreGate : public ::testing::Test {
 protected:
  std::vector<std::string> contents;
  std::vector<std::string> refs;
  Config config;
  Call call{"fetch", "ns", std::nullopt, Dialect::mcp};

  // Follows the log; inner segments are closed, and so named, before they are referred to.
  void follow(const std::string& log, const std::vector<Segment>& segments) {
    contents.resize(segments.size());
    refs.resize(segments.size());
    for (size_t at = 0; at + 12 <= log.size();) {
      uint32_t head[3];
      std::memcpy(head, log.data() + at, sizeof head);
      at += sizeof head;
      std::string& content = contents[head[1]];
      if (head[0] == static_cast<uint32_t>(EventKind::data)) content += log.substr(at, head[2]);
      if (head[0] == static_cast<uint32_t>(EventKind::reference)) {
        uint32_t inner = 0;
        std::memcpy(&inner, log.data() + at, sizeof inner);
        const std::string id = Bench::id(contents[inner]);
        std::string& list = refs[head[1]];
        list += (list.empty() ? "" : ",") + inner_ref(segments[inner], id, content.size());
        content += reference(segments[inner], id, true);
      }
      at += head[2];
    }
  }

  std::string join(const std::vector<Piece>& pieces) const {
    std::string out;
    for (const Piece& piece : pieces) {
      if (piece.kind == Piece::Kind::literal) {
        out += piece.literal;
        continue;
      }
      size_t index = 0;
      while (index < contents.size() && Bench::id(contents[index]) != piece.id) ++index;
      if (index == contents.size()) return "missing " + piece.id;
      if (piece.kind == Piece::Kind::bytes) {
        const std::string text = written(piece.form, contents[index]);
        piece.raw ? out.append(text) : (append_escaped(out, text), out);
        continue;
      }
      std::vector<Piece> inner;
      const Status status =
          restore_text_pieces(contents[index], "[" + refs[index] + "]",
                              piece.kind == Piece::Kind::json, piece.spelling, inner);
      out += status.ok() ? join(inner) : status.message;
    }
    return out;
  }

  void expect_back(const std::string& json, bool object = true) {
    contents.clear();
    refs.clear();
    GateOptions options = gate_options_for_test();
    Gate gate(options);
    ASSERT_TRUE(gate.push(as_bytes(json)).ok());
    ASSERT_TRUE(gate.finish().ok());
    follow(gate.events(), gate.segments());
    Layers layers(config, call, gate.reduced(), gate.segments());
    ASSERT_TRUE(layers.plan().ok());
    follow(layers.events(), layers.segments());
    for (uint32_t i = 0; i < contents.size(); ++i)
      layers.stored(i, {Bench::id(contents[i]), {}, {}, {}});
    const std::string text = layers.render();
    std::vector<Piece> pieces;
    const Status status =
        object ? restore_pieces(text, pieces) : restore_pieces(text, layers.refs_json(), pieces);
    ASSERT_TRUE(status.ok()) << status.message << text;
    EXPECT_GT(contents.size(), 0u);
    EXPECT_LT(text.size(), json.size());
    EXPECT_TRUE(normal(join(pieces)) == normal(json)) << text.substr(0, 2'000);
  }

  static GateOptions gate_options_for_test() {
    GateOptions options;
    options.max_inline_size = 400;
    options.max_document_chars = 2'000;
    options.min_run_chars = 64;
    return options;
  }

  static std::string bytes_array(const std::string& bytes) {
    Form form;
    form.encoding = Encoding::byte_array;
    form.separator = ",";
    form.prefix = "[";
    form.suffix = "]";
    return written(form, bytes);
  }
  static std::string quoted(const std::string& text) {
    std::string out = "\"";
    append_escaped(out, text);
    return out + "\"";
  }
};

TEST_F(RestoreGate, TypedBlocksAndBothHalves) {
  const std::string data = base64(png(3'000));
  expect_back(
      "{\"content\":[{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"" + data +
      "\"},{\"type\":\"text\",\"text\":" + quoted("{\"p\":\"" + base64(pdf(2'000)) + "\"}") +
      "}],\"structuredContent\":{\"p\":\"" + base64(pdf(2'000)) + "\"}}");
}

TEST_F(RestoreGate, WrappedRunInProseAndDataUri) {
  Form form;
  form.column = 76;
  form.separator = "\r\n";
  expect_back("{\"content\":[{\"type\":\"text\",\"text\":" +
              quoted("see:\n" + written(form, pdf(2'000)) + "\n![x](data:image/png;base64," +
                     base64(png(900)) + ")") +
              "}]}");
}

TEST_F(RestoreGate, LongTextWithARunInside) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "words \"and\" words, é\n";
  expect_back("{\"content\":[{\"type\":\"text\",\"text\":" +
              quoted(text + base64(pdf(2'000)) + " " + text) + "}],\"isError\":false}");
}

TEST_F(RestoreGate, ByteArraysBareAndInText) {
  const std::string array = bytes_array(png(900));
  expect_back("{\"structuredContent\":{\"b\":{\"type\":\"Buffer\",\"data\":" + array + "}}}");
  expect_back("{\"content\":[{\"type\":\"text\",\"text\":" +
              quoted("{\"rows\":[{\"type\":\"Buffer\",\"data\":" + array + "}]}") + "}]}");
}

TEST_F(RestoreGate, RowsOfSmallValues) {
  std::string rows = "[";
  for (int i = 0; i < 300; ++i) {
    rows += (i > 0 ? "," : "") + std::string("{\"id\":") + std::to_string(i) + ",\"v\":1.50}";
  }
  rows += ",{\"id\":0,\"blob\":\"" + base64(pdf(600)) + "\",\"b\":" + bytes_array(png(300)) + "}]";
  expect_back("{\"content\":[],\"structuredContent\":{\"rows\":" + rows + ",\"n\":300}}");
  expect_back("{\"result\":" + rows + "}");
  expect_back(rows, false);
}

}  // namespace
}  // namespace sluice
