// What restore is given comes from a document: it is checked, never believed.
#include <gtest/gtest.h>

#include "layers/layers_fixture.h"

namespace {

using namespace sluice;

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
                                  false, pieces)
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
    EXPECT_EQ(restore_text_pieces("artifact://x", refs, true, pieces).code, Code::restore_refs)
        << refs;
  }
}

}  // namespace
