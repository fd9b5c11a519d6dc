// What nobody between a server and its client may touch.
#include <gtest/gtest.h>

#include "gate/gate_fixture.h"
#include "sluice/tape.h"

namespace sluice::testing {
namespace {

GateOptions protecting() {
  GateOptions options;
  options.max_inline_size = 400;
  options.max_document_chars = 2'000;
  options.min_run_chars = 200;
  options.protect = true;
  return options;
}

std::string image(size_t size = 900, uint32_t seed = 1) {
  return as_json(base64(bytes_like("\x89PNG\r\n\x1a\n", size, seed)));
}

std::string small_members(int count, const std::string& prefix = "k") {
  std::string out;
  for (int i = 0; i < count; ++i) out += "\"" + prefix + std::to_string(i) + "\": 1,";
  return out;
}

/// A value of every kind in which the gate would find something.
std::string tempting() {
  std::string rows = "[";
  for (int i = 0; i < 400; ++i) rows += "{ \"id\" : " + std::to_string(i) + "},";
  return "{ \"run\" : " + image() + ", \"text\":\"" + std::string(900, 'w') +
         "\",\n\"bytes\":[37,80,68,70,45,49,46,52,10,37,226,227,207,211,10,49,32,48,32,111,98,"
         "106]" +
         ", \"rows\":" + rows + "0], \"\\u0069n\": \"data:image/png;base64," + image().substr(1) +
         "}";
}

void expect_in_any_chunks(const std::string& json, const Passed& passed,
                          const GateOptions& options) {
  for (const size_t block : {size_t{1}, size_t{7}, size_t{61}, size_t{1'000}}) {
    const Passed other = pass(json, options, block);
    ASSERT_TRUE(other.status.ok());
    EXPECT_TRUE(other.reduced == passed.reduced) << block;
    EXPECT_EQ(other.contents, passed.contents);
    ASSERT_EQ(other.segments.size(), passed.segments.size());
    for (size_t i = 0; i < other.segments.size(); ++i) {
      EXPECT_TRUE(other.segments[i].members == passed.segments[i].members) << block;
    }
  }
}

class Protected : public ::testing::TestWithParam<const char*> {};

TEST_P(Protected, StandsByteForByteAtTheRootAndInTheResult) {
  const std::string member = std::string("\"") + GetParam() + "\" : " + tempting();
  for (const bool envelope : {false, true}) {
    const std::string result = "{" + member + ", \"content\":[{\"data\":" + image() + "}]}";
    const std::string json =
        envelope ? "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":" + result + "}" : result;
    const Passed passed = pass(json, protecting());
    ASSERT_TRUE(passed.status.ok()) << passed.status.message;
    EXPECT_EQ(passed.segments.size(), 1u);
    EXPECT_TRUE(passed.reduced.find(member) != std::string::npos) << passed.reduced;
    EXPECT_EQ(restore(passed), json);
    expect_in_any_chunks(json, passed, protecting());
  }
}

TEST_P(Protected, IsLikeAnythingElseWhereItIsNotTheResults) {
  const std::string json = std::string("{\"structuredContent\":{\"") + GetParam() +
                           "\":" + image() + "},\"error\":{\"" + GetParam() + "\":" + image() +
                           "}}";
  EXPECT_EQ(pass(json, protecting()).segments.size(), 2u);
  const std::string own = std::string("{\"") + GetParam() + "\":" + image() + "}";
  GateOptions options = protecting();
  options.protect = false;
  EXPECT_EQ(pass(own, options).segments.size(), 1u) << "an observation is for the model alone";
}

TEST_P(Protected, StandsBesideAResultThatHadToGo) {
  const std::string first = std::string("\"") + GetParam() + "\":" + tempting();
  const std::string last = "\"\\u005fmeta\" : " + tempting();
  const std::string result =
      "{" + first + "," + small_members(300) + small_members(300, "m") + last + "}";
  for (const bool envelope : {false, true}) {
    const std::string json =
        envelope ? "{\"id\":7,\"result\":" + result + ",\"jsonrpc\":\"2.0\"}" : result;
    const Passed passed = pass(json, protecting());
    ASSERT_TRUE(passed.status.ok());
    ASSERT_EQ(passed.segments.size(), 1u);
    EXPECT_TRUE(passed.contents[0] == result);
    EXPECT_TRUE(passed.segments[0].members == "," + first + "," + last);
    EXPECT_EQ(passed.reduced.find("\"id\":7") != std::string::npos, envelope);
    expect_in_any_chunks(json, passed, protecting());
  }
}

INSTANTIATE_TEST_SUITE_P(Members, Protected,
                         ::testing::Values("_meta", "requestState", "inputRequests",
                                           "inputResponses", "nextCursor", "resultType"));

/// The one mark in a template gives way to a member `_meta` in which the gate would find much.
std::string with_meta(std::string json, const std::string& member) {
  return json.replace(json.find('@'), 1, member);
}

class ProtectedMeta : public ::testing::TestWithParam<const char*> {};

TEST_P(ProtectedMeta, StandsByteForByteWhereMcpDefinesOne) {
  for (const std::string key : {"_meta", "\\u005fmet\\u0061"}) {
    const std::string member = "\"" + key + "\" : " + tempting();
    for (const bool envelope : {false, true}) {
      const std::string result = with_meta(GetParam(), member);
      const std::string json =
          envelope ? "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":" + result + "}" : result;
      const Passed passed = pass(json, protecting());
      ASSERT_TRUE(passed.status.ok()) << passed.status.message;
      EXPECT_EQ(passed.segments.size(), 0u);
      EXPECT_TRUE(passed.reduced == json) << passed.reduced;
      expect_in_any_chunks(json, passed, protecting());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Objects, ProtectedMeta,
    ::testing::Values(R"({"content":[{"type":"text","text":"a"},{@,"type":"text","text":"b"}]})",
                      R"({"content":[{"type":"resource","resource":{"uri":"x:y","text":"",@}}]})",
                      R"({"content":[{"type":"resource_link","uri":"x:y",@}]})",
                      R"({"content":[{"content":[{"type":"text",@}],"type":"tool_result"}]})",
                      R"({"role":"assistant","content":{"type":"text","text":"a",@}})",
                      R"({"messages":[{"role":"user","content":{"type":"text",@}}]})",
                      R"({"messages":[{"role":"user","content":[{"type":"text",@}]}]})",
                      R"({"messages":[{"role":"user",@}]})",
                      R"({"contents":[{"uri":"x:y","text":"a",@}]})",
                      R"({"resources":[{"uri":"x:y","name":"a",@}]})",
                      R"({"resourceTemplates":[{"uriTemplate":"x:{y}",@}]})",
                      R"({"tools":[{"name":"a","inputSchema":{"type":"object"},@}]})",
                      R"({"prompts":[{"name":"a",@}]})", R"({"roots":[{"uri":"file:///a",@}]})",
                      R"({"tasks":[{"taskId":"a"},{"taskId":"b",@}]})",
                      R"({"task":{"taskId":"a","status":"working",@}})",
                      R"({"taskId":"a","result":{"content":[],@}})",
                      R"({"taskId":"a","result":{"content":[{"type":"text",@}]}})"));

class OtherMeta : public ::testing::TestWithParam<const char*> {};

TEST_P(OtherMeta, IsLikeAnythingElse) {
  const std::string json = with_meta(GetParam(), "\"_meta\":" + image());
  const Passed passed = pass(json, protecting());
  ASSERT_TRUE(passed.status.ok()) << passed.status.message;
  ASSERT_EQ(passed.segments.size(), 1u) << passed.reduced;
  EXPECT_EQ(passed.segments[0].mime_type, "image/png");
  EXPECT_EQ(restore(passed), json);
  expect_in_any_chunks(json, passed, protecting());
}

INSTANTIATE_TEST_SUITE_P(
    Objects, OtherMeta,
    ::testing::Values(R"({"structuredContent":{@}})", R"({"structuredContent":[{@}]})",
                      R"({"structuredContent":{"content":[{"type":"text",@}]}})",
                      R"({"structuredContent":{"result":{@}}})",
                      R"({"content":[{"type":"text","annotations":{@}}]})",
                      R"({"content":[[{@}]]})", R"({"content":[{"resource":{"resource":{@}}}]})",
                      R"({"contents":[{"content":[{@}]}]})",
                      R"({"tools":[{"name":"a","inputSchema":{@}}]})",
                      R"({"tools":[{"name":"a","resource":{@}}]})", R"({"resource":{@}})",
                      R"({"content":[],"other":{@}})", R"({"result":0,"other":{@}})",
                      R"([{"result":1},{@}])", R"([{"type":"text",@}])"));

TEST(GateProtect, WhatAKeyThatHadToGoSaysIsNotWhatTheOneBeforeSaid) {
  const std::string json = "{\"content\":1,\"" + std::string(900, 'w') +
                           "\":[{\"type\":\"text\",\"_meta\":" + image() + "}]}";
  const Passed passed = pass(json, protecting());
  EXPECT_EQ(passed.segments.size(), 2u);
  EXPECT_EQ(restore(passed), json);
}

TEST(GateProtect, TheMetaOfABlockThatHadToGoGoesWithIt) {
  const std::string json = "{\"content\":[{\"type\":\"x\"," + small_members(600) +
                           "\"_meta\":" + tempting() + "}],\"nextCursor\":" + image() + "}";
  const Passed passed = pass(json, protecting());
  ASSERT_GE(passed.segments.size(), 1u);
  EXPECT_LT(passed.reduced.size(), 2'000u);
  EXPECT_NE(passed.reduced.find("\"nextCursor\":" + image()), std::string::npos);
  EXPECT_EQ(restore(passed), json);
  expect_in_any_chunks(json, passed, protecting());
}

TEST(GateProtect, AllMetaTogetherAreBounded) {
  std::string json = "{\"content\":[";
  for (int i = 0; i < 12; ++i) {
    json += "{\"type\":\"text\",\"_meta\":{\"a\":\"" + std::string(1 << 20, 'w') + "\"}},";
  }
  json += "{}]}";
  const Passed passed = pass(json, protecting(), 65'521);
  ASSERT_TRUE(passed.status.ok());
  EXPECT_GE(passed.segments.size(), 4u);
  EXPECT_LT(passed.reduced.size(), (size_t{8} << 20) + 2'000);
  EXPECT_GT(passed.reduced.size(), size_t{6} << 20);
  EXPECT_TRUE(restore(passed) == json);
}

TEST(GateProtect, IconsAreLeftAloneAnywhereWhenTheyAreAnArray) {
  const std::string icons = "[{\"src\":\"data:image/png;base64," + image().substr(1) + "}]";
  const std::string json = "{\"structuredContent\":{\"a\":[{\"icons\":" + icons +
                           ",\"x\":" + image(900, 2) + "},{\"\\u0069\\u0063ons\" :\n" + icons +
                           "},{\"icons\":" + image(900, 3) + "}]}}";
  const Passed passed = pass(json, protecting());
  EXPECT_EQ(passed.segments.size(), 2u);
  EXPECT_NE(passed.reduced.find("\"icons\":" + icons), std::string::npos);
  EXPECT_NE(passed.reduced.find("\"\\u0069\\u0063ons\" :\n" + icons), std::string::npos);
  EXPECT_EQ(restore(passed), json);
  expect_in_any_chunks(json, passed, protecting());
}

// Nothing is protected within what streams, however deep it stands; what stands beside it is.
TEST(GateProtect, IconsInAResultThatHadToGoGoWithIt) {
  const std::string icons = "[{\"src\":\"data:image/png;base64," + image().substr(1) + "}]";
  const std::string json = "{\"rows\":[{" + small_members(900) +
                           "\"z\":{\"a\":[{\"icons\":" + icons +
                           "}]}}],\"nextCursor\":" + image(900, 3) + ",\"more\":{" +
                           small_members(900) + "\"resultType\":{\"icons\":" + icons + "}}}";
  const Passed passed = pass(json, protecting());
  EXPECT_EQ(restore(passed), json);
  EXPECT_EQ(passed.reduced.find("icons"), std::string::npos);
  EXPECT_NE(passed.reduced.find("\"nextCursor\":" + image(900, 3)), std::string::npos);
  expect_in_any_chunks(json, passed, protecting());
}

TEST(GateProtect, DoesNotCountAgainstTheDocument) {
  const std::string json = "{\"_meta\":{" + small_members(900) + "\"z\":0},\"content\":[" +
                           as_json(std::string(390, 'a')) + "]}";
  const Passed passed = pass(json, protecting());
  EXPECT_EQ(passed.segments.size(), 0u);
  EXPECT_EQ(passed.reduced, json);
}

TEST(GateProtect, ALongStringBeyondTheBoundGoesAsText) {
  const std::string large(9 << 20, 'w');
  const std::string json = "{\"_meta\":{\"a\":" + image() + ",\"large\":\"" + large +
                           "\",\"b\":" + image(900, 2) + "},\"nextCursor\":" + image(900, 3) + "}";
  for (const size_t block : {size_t{0}, size_t{65'521}}) {
    const Passed passed = pass(json, protecting(), block);
    ASSERT_EQ(passed.segments.size(), 2u);
    EXPECT_EQ(passed.segments[0].kind, SegmentKind::text);
    EXPECT_TRUE(passed.contents[0] == large);
    EXPECT_NE(passed.reduced.find("\"a\":" + image()), std::string::npos);
    EXPECT_NE(passed.reduced.find("\"nextCursor\":" + image(900, 3)), std::string::npos);
    EXPECT_TRUE(restore(passed) == json);
  }
}

TEST(GateProtect, NoMoreThanTheBoundIsProtected) {
  std::string json = "{\"inputRequests\":[";
  for (int i = 0; i < 12'000; ++i) json += "\"" + std::string(997, 'w') + "\",";
  json += "0],\"_meta\":{\"late\":" + image() + "}}";
  GateOptions options = protecting();
  options.max_inline_size = 1'000;
  const Passed passed = pass(json, options, 65'521);
  ASSERT_TRUE(passed.status.ok());
  ASSERT_EQ(passed.segments.size(), 2u);
  EXPECT_LT(passed.reduced.size(), 1'000u);
  EXPECT_TRUE(restore(passed) == json);
  const Passed other = pass(json, options, 1'000'003);
  EXPECT_TRUE(other.reduced == passed.reduced);
}

TEST(GateProtect, AnEnvelopeKeepsItsIdWhateverItsResultHolds) {
  std::string many = "[";
  for (uint32_t i = 0; i < 120; ++i) many += image(300, i) + ",";
  many += "0]";
  const std::string content = "{\"content\":" + many + "}";
  for (const std::string& json :
       {"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":" + content + "}",
        "{\"result\":" + content + ",\"id\":\"x\",\"jsonrpc\":\"2.0\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":" + content + "," + small_members(900) +
            "\"long\":\"" + std::string(5'000, 'a') + "\"}"}) {
    GateOptions options = protecting();
    options.max_segments = 50;
    const Passed passed = pass(json, options);
    ASSERT_TRUE(passed.status.ok());
    EXPECT_NE(passed.reduced.find("\"id\":\"x\""), std::string::npos) << passed.reduced;
    EXPECT_LE(passed.segments.size(), 66u);
    EXPECT_TRUE(restore(passed) == json);
    expect_in_any_chunks(json, passed, options);
  }
}

TEST(GateProtect, AnEnvelopeWithoutEndGoesAllTheSame) {
  std::string json = "{\"jsonrpc\":\"2.0\",\"id\":1,";
  while (json.size() < (size_t{10} << 20)) json += "\"" + std::string(390, 'k') + "\":1,";
  json += "\"result\":{}}";
  const Passed passed = pass(json, protecting(), 65'521);
  ASSERT_TRUE(passed.status.ok());
  EXPECT_LT(passed.reduced.size(), 100u);
  EXPECT_TRUE(restore(passed) == json);
}

}  // namespace
}  // namespace sluice::testing
