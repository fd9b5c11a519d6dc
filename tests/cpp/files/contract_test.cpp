// The tool output contract: found, read and written anew.

#include "files/contract_fixture.h"
#include "sluice/tape.h"

namespace sluice {
namespace {

// --- where a contract is looked for, and where not -----------------------------------------------

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

// --- the contract's own members, and what is written of a contract -------------------------------

const std::string kNoFiles = R"("artifacts":[],"deferred_artifacts":[],)" + kNoDisplay;

TEST(FilesContract, DefaultsAreFilledInAndNullIsAsIfLeftOut) {
  const std::string plain = R"({"results":{},)" + kNoFiles;
  EXPECT_EQ(contract_of(R"({"results":{}})"), plain);
  EXPECT_EQ(dropped_in(R"({"results":{}})"), "none");
  EXPECT_EQ(contract_of(with(R"("meta_data":null,"retryable":null,"artifacts":null,)"
                             R"("deferred_artifacts":null,"display":null)")),
            plain);
}

TEST(FilesContract, ResultsAndFactsAreCopiedAsTheyStand) {
  const std::string results = R"({"n" : 1.000000000000000000001e+2, "a":"\u00e9\ud800", "a":2})";
  EXPECT_EQ(
      contract_of(R"({"meta_data":{ "x":-0.0 },"results":)" + results + R"(,"retryable":true})"),
      R"({"results":)" + results + R"(,"meta_data":{ "x":-0.0 },"retryable":true,)" + kNoFiles);
}

TEST(FilesContract, WhatTheCoreDivertedStaysAReference) {
  const std::string reference = R"("artifact://artifact_1?type=application/json&size=108781")";
  EXPECT_EQ(contract_of(R"({"results":)" + reference + R"(,"meta_data":)" + reference + "}"),
            R"({"results":)" + reference + R"(,"meta_data":)" + reference + "," + kNoFiles);
}

TEST(FilesContract, UnknownMembersAreGoneAndTheContractsOwnAreNamed) {
  EXPECT_EQ(
      contract_of(with(R"("x":1,"artifacts":[{"name":"a","b64":"QQ","mime":"a/b","x":[]}],)"
                       R"("deferred_artifacts":[{"name":"d","path":"/d","mime":"a/b","b64":1}],)"
                       R"("display":{"x":{}})")),
      R"({"results":{},"artifacts":[{"name":"a","b64":"QQ==","mime":"a/b","auto_open":false}],)"
      R"("deferred_artifacts":[{"name":"d","path":"/d","mime":"a/b","expires_hours":72}],)" +
          kNoDisplay);
  EXPECT_EQ(dropped_of(R"("a\nb\u202e":1,")" + std::string(65, 'x') + R"(":1,)" +
                       artifact_with(R"("x":[])")),
            "a b: is not a member of a contract\n…: is not a member of a contract");
}

TEST(FilesContract, OfDuplicatesTheLastCounts) {
  EXPECT_EQ(contract_of(R"({"results":1,"results":{"a":1},"retry\u0061ble":1,"retryable":false})"),
            R"({"results":{"a":1},"retryable":false,)" + kNoFiles);
  EXPECT_EQ(dropped_of(R"("retryable":true,"retryable":1)"), "retryable: must be true or false");
}

TEST(FilesContract, ResultsMayBeLeftOut) {
  const std::string file = R"("artifacts":[{"name":"a","path":"/p","mime":"a/b"}])";
  const std::string written =
      R"({"results":{},"artifacts":[{"name":"a","path":"/p","mime":"a/b","auto_open":false}],)"
      R"("deferred_artifacts":[],)" +
      kNoDisplay;
  for (const char* results : {"", R"("results":null,)"}) {
    const std::string answer = "{" + std::string(results) + file + "}";
    EXPECT_EQ(contract_of(answer), written);
    EXPECT_EQ(dropped_in(answer), "none");
  }
}

TEST(FilesContract, ResultsThatAreNoObjectAreKeptInOne) {
  for (const char* results : {"1", "\"x\"", "[1, 2.0]", "true", "\"artifact://\""}) {
    const std::string answer =
        "{\"results\":" + std::string(results) + "," + artifact_with(R"("size":1)") + "}";
    EXPECT_TRUE(contract_of(answer).starts_with(R"({"results":{"result":)" + std::string(results) +
                                                R"(},"artifacts":[{"name":"a")"));
    EXPECT_EQ(dropped_in(answer), "results: must be an object; it was wrapped as {\"result\": …}");
  }
}

TEST(FilesContract, FactsAreAnObjectAndRetryableIsTrueOrFalse) {
  EXPECT_EQ(dropped_of(R"("meta_data":[])"), "meta_data: must be an object");
  EXPECT_EQ(dropped_of(R"("retryable":"yes")"), "retryable: must be true or false");
}

TEST(FilesContract, ListsOfFilesAreBounded) {
  const auto list = [](const std::string& key, size_t count, const char* place) {
    std::string files;
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) files += ',';
      files += R"({"name":"n)" + std::to_string(i) + "\"," + place + R"(,"mime":"a/b"})";
    }
    return "\"" + key + "\":[" + files + "]";
  };
  for (const char* key : {"artifacts", "deferred_artifacts"}) {
    const std::string name(key);
    const std::string rest = name + ": may have at most 256 objects: the others are left out";
    EXPECT_EQ(dropped_of(list(key, 256, R"("path":"/p")")), "none");
    EXPECT_EQ(dropped_of(list(key, 300, R"("path":"/p")")), rest);
    const std::string contract = contract_of(with(list(key, 300, R"("path":"/p")")));
    EXPECT_NE(contract.find(R"("name":"n255")"), std::string::npos);
    EXPECT_EQ(contract.find(R"("name":"n256")"), std::string::npos);
    EXPECT_EQ(dropped_of("\"" + name + "\":{}"), name + ": must be an array of objects");
    EXPECT_EQ(dropped_of("\"" + name + "\":[1]"), name + "[0]: must be an object");
  }
}

TEST(FilesContract, WhatIsLeftOutIsListedUpToALimitAndCounted) {
  std::string files;
  for (int i = 0; i < 300; ++i) files += i == 0 ? "1" : ",1";
  const std::string dropped = read_contract(with(R"("artifacts":[)" + files + "]")).dropped;
  EXPECT_TRUE(dropped.starts_with(R"({"count":300,"fields":[{"field":"artifacts[0]",)")) << dropped;
  EXPECT_NE(dropped.find("artifacts[15]"), std::string::npos);
  EXPECT_EQ(dropped.find("artifacts[16]"), std::string::npos);
}

TEST(FilesContract, AListThatTheCoreDivertedIsTooLong) {
  EXPECT_EQ(dropped_of(R"("artifacts":"artifact://a?type=application/json&size=72741")"),
            "artifacts: must be shorter: it is too large for a result");
}

TEST(FilesContract, EachBrokenRuleIsTold) {
  EXPECT_EQ(dropped_of(R"("display":1,"artifacts":[{}],"retryable":0)"),
            "retryable: must be true or false\n"
            "artifacts[0].name: must be a string of 1 to 1024 characters\n"
            "artifacts[0]: must have b64 or path\n"
            "display: must be an object");
}

TEST(FilesContract, DisplayIsAnObjectOfHints) {
  EXPECT_EQ(
      contract_of(with(artifact_with(R"("auto_open":true)") +
                       R"(,"display":{"notification":" 1\nfile\u202e ","category_hint":"draft",)"
                       R"("storage_action":"store_and_open","mode":"split",)"
                       R"("primary_file":"\u0061","open_canvas":true})")),
      R"({"results":{},"artifacts":[{"name":"a","b64":"","mime":"text/csv","auto_open":true}],)"
      R"("deferred_artifacts":[],"display":{"open_canvas":true,"primary_file":"a",)"
      R"("mode":"split","storage_action":"store_and_open","category_hint":"draft",)"
      R"("notification":"1 file"}})");
  EXPECT_EQ(dropped_of(R"("display":[])"), "display: must be an object");
  EXPECT_EQ(dropped_of(R"("display":{"open_canvas":1})"),
            "display.open_canvas: must be true or false");
  EXPECT_EQ(dropped_of(R"("display":{"mode":"full"})"),
            "display.mode: must be one of replace, append, split");
  EXPECT_EQ(dropped_of(R"("display":{"storage_action":"keep"})"),
            "display.storage_action: must be one of store, store_and_open, temporary");
  EXPECT_EQ(dropped_of(R"("display":{"category_hint":"x"})"),
            "display.category_hint: must be one of report, dataset, visualization, draft");
  EXPECT_EQ(dropped_of(R"("display":{"notification":1})"),
            "display.notification: must be a string of at most 500 characters");
  EXPECT_EQ(dropped_of(R"("display":{"notification":")" + std::string(500, 'x') + "\"}"), "none");
  EXPECT_EQ(dropped_of(R"("display":{"notification":")" + std::string(501, 'x') + "\"}"),
            "display.notification: must be a string of at most 500 characters");
}

TEST(FilesContract, AHintThatBreaksARuleCostsNoOther) {
  EXPECT_EQ(
      contract_of(with(
          R"("display":{"mode":"full","open_canvas":1,"storage_action":"keep","notification":"n"})")),
      R"({"results":{},"artifacts":[],"deferred_artifacts":[],"display":{"open_canvas":false,)"
      R"("storage_action":"store","notification":"n"}})");
}

TEST(FilesContract, ThePrimaryFileIsOneOfThisResult) {
  EXPECT_EQ(dropped_of(deferred_with(R"("x":1)") + R"(,"display":{"primary_file":"a"})"), "none");
  EXPECT_EQ(dropped_of(R"("artifacts":[{"name":"a"}],"display":{"primary_file":"a"})"),
            "artifacts[0]: must have b64 or path\n"
            "display.primary_file: must be the name of a file in this result");
  for (const char* name : {"\"b\"", "\"\"", "1", "[]"})
    EXPECT_EQ(dropped_of(artifact_with(R"("x":1)") + R"(,"display":{"primary_file":)" + name + "}"),
              "display.primary_file: must be the name of a file in this result");
}

TEST(FilesContract, ANormalisedContractReadAgainIsTheSame) {
  const std::string contract = contract_of(with(
      R"("meta_data":{"a":1e400},"artifacts":[{"name":"\ud800 \"x\"","b64":" -_-_ ",)"
      R"("mime":"A/B;c=\"\\\"\"","size":3.0,"description":" \u0007a\n b ","viewer":"code",)"
      R"("category":"draft"},{"name":"r","b64":"artifact://a?size=1","mime":"a/b"}],)"
      R"("deferred_artifacts":[{"name":"d","path":"/tmp/\u00e9","mime":"a/b","reason":"draft",)"
      R"("next_actions":["Edit it"],"expires_hours":8760}],)"
      R"("display":{"primary_file":"d","notification":"\ud83d\ude00"})"));
  ASSERT_TRUE(contract.starts_with(R"({"results")")) << contract;
  EXPECT_EQ(contract_of(contract), contract);
}

}  // namespace
}  // namespace sluice
