// Where a contract is looked for, and where not.
#include "files/contract_fixture.h"
#include "sluice/tape.h"

namespace sluice {
namespace {

const std::string kEmpty =
    R"({"results":{"n":1},"artifacts":[],"deferred_artifacts":[],)" + kNoDisplay;

std::string text_block(const std::string& text) {
  std::string out = R"({"type":"text","text":")";
  append_escaped(out, text);
  return out + "\"}";
}

TEST(FilesCarrier, StructuredContentIsOne) {
  EXPECT_EQ(contract_of(R"({"content":[],"structuredContent":{"results":{"n":1}}})"), kEmpty);
  EXPECT_EQ(contract_of(R"({"structuredContent":{"results":{"n":1}},"isError":true})"), kEmpty);
}

TEST(FilesCarrier, StructuredContentWinsOverItsCopyAsText) {
  EXPECT_EQ(contract_of(R"({"content":[)" + text_block(R"({"results":{"n":2}})") +
                        R"(],"structuredContent":{"results":{"n":1}}})"),
            kEmpty);
}

TEST(FilesCarrier, TheOnlyTextBlockIsOneWhereStructuredContentIsNot) {
  const std::string block = text_block(R"( {"results":{"n":1}} )");
  EXPECT_EQ(contract_of(R"({"content":[)" + block + "]}"), kEmpty);
  EXPECT_EQ(contract_of(R"({"content":[)" + block + R"(],"structuredContent":{"result":"x"}})"),
            kEmpty);
  EXPECT_EQ(contract_of(R"({"isError":true,"content":[)" + block + "]}"), kEmpty);
}

TEST(FilesCarrier, ANoteThatTheCoreAddedIsNoBlock) {
  const std::string blocks =
      text_block(R"({"results":{"n":1}})") + "," + text_block("[sluice] Stored");
  const auto noted = [&](const std::string& refs) {
    return R"({"content":[)" + blocks + R"(],"_meta":{"sluice/refs":)" + refs + "}}";
  };
  EXPECT_EQ(contract_of(noted(R"([{"at":"/content/0/text","uri":"artifact://a"},)"
                              R"({"at":"/content/1","added":true}])")),
            kEmpty);
  for (const char* others :
       {"[]", "{}", "null", "[1]", R"([{"at":"/content/1"}])",
        R"([{"at":"/content/1","added":false}])", R"([{"at":"/content/2","added":true}])"})
    EXPECT_EQ(contract_of(noted(others)), "other") << others;
  EXPECT_EQ(contract_of(R"({"content":[)" + blocks + "]}"), "other");
}

TEST(FilesCarrier, OtherBlocksAreNone) {
  const std::string block = text_block(R"({"results":{}})");
  const std::string image = R"({"type":"image","data":"","mimeType":"image/png"})";
  for (const std::string& blocks :
       {std::string(), block + "," + block, image, block + "," + image, text_block("results"),
        text_block(""), text_block("[{\"results\":{}}]"), text_block(R"({"result":{}})"),
        std::string("1"), std::string(R"({"type":"text"})"),
        std::string(R"({"type":"text","text":1})"),
        std::string(R"({"type":"resource","text":"{\"results\":{}}"})"),
        // A lone surrogate, which JSON text cannot carry.
        std::string(R"({"type":"text","text":"{\"results\":{\"a\":\"\ud800\"}}"})")})
    EXPECT_EQ(contract_of(R"({"content":[)" + blocks + "]}"), "other") << blocks;
}

TEST(FilesCarrier, AValueThatIsNoToolResultMayBeOneItself) {
  EXPECT_EQ(contract_of(R"({"results":{"n":1}})"), kEmpty);
  EXPECT_EQ(contract_of(R"({"results":{"n":1},"display":{}})"), kEmpty);
  EXPECT_EQ(contract_of(R"({"results":{"n":1},"content":"text"})"), "other");
  EXPECT_EQ(contract_of(R"({"results":{"n":1},"content":[]})"), "other");
  EXPECT_EQ(contract_of(R"({"results":{"n":1},"structuredContent":{}})"), "other");
}

TEST(FilesCarrier, AListOfFilesMakesOneWhateverStandsBesideIt) {
  for (const char* key : {"artifacts", "deferred_artifacts"})
    for (const char* place :
         {R"("path":"/tmp/a")", R"("path":"C:\\a")", R"("path":"\\\\s\\a")", R"("b64":"")"})
      for (const char* beside : {"", R"("results":"done",)", R"("results":[],"total":1,)"})
        EXPECT_NE(contract_of("{" + std::string(beside) + "\"" + key + R"(":[1,{"name":"a",)" +
                              place + "}]}"),
                  "other")
            << key << place << beside;
}

TEST(FilesCarrier, OrdinaryResultsAreNone) {
  for (const char* text :
       {// A search.
        R"({"results":[{"title":"a"}],"total":1})", R"({"results":[]})", R"({"results":"none"})",
        R"({"results":{"a":1},"query":"x"})", R"({"results":null})",
        // A build.
        R"({"artifacts":[{"name":"dist.zip","size":1}],"total_count":1})",
        R"({"artifacts":[{"name":"dist.zip","path":"build/dist.zip"}],"total_count":1})",
        R"({"artifacts":[{"id":1,"path":"/build/dist.zip"}]})",
        R"({"artifacts":[{"name":"a","b64":1}]})", R"({"artifacts":[{"name":1,"path":"/a"}]})",
        R"({"artifacts":["/tmp/a"]})", R"({"artifacts":[]})",
        R"({"artifacts":{"name":"a","path":"/a"}})",
        // A page.
        R"({"display":{"mode":"split"}})", R"({"meta_data":{}})", R"({"retryable":true})"})
    EXPECT_EQ(contract_of(text), "other") << text;
}

TEST(FilesCarrier, WithoutOtherMembersAnyPathMakesOne) {
  EXPECT_NE(contract_of(R"({"artifacts":[{"name":"a","path":"a.csv"}],"meta_data":{}})"), "other");
}

TEST(FilesCarrier, WhateverElseIsNone) {
  for (const char* text : {"", "{", "null", "1", "[]", "{}", "\"results\"", R"(["results"])",
                           R"({"result":{"results":{}}})", R"({"structuredContent":"results"})",
                           R"({"structuredContent":[{"results":{}}]})", "{\"results\":{}} x"})
    EXPECT_EQ(contract_of(text), "other") << text;
}

TEST(FilesCarrier, DepthIsBounded) {
  const auto nested = [](size_t depth) {
    return R"({"results":{"a":)" + std::string(depth, '[') + std::string(depth, ']') + "}}";
  };
  EXPECT_NE(contract_of(nested(510)), "other");
  EXPECT_EQ(contract_of(nested(511)), "other");
  EXPECT_EQ(contract_of(nested(1'000'000)), "other");
}

}  // namespace
}  // namespace sluice
