// What a contract says of files.
#include "files/contract_fixture.h"

namespace sluice {
namespace {

std::string quoted(size_t count, const char* character) {
  std::string text = "\"";
  for (size_t i = 0; i < count; ++i) text += character;
  return text + '"';
}

/// What is left out of an artifact that is these members and nothing else.
std::string dropped_of_artifact(const std::string& members) {
  return dropped_of("\"artifacts\":[{" + members + "}]");
}

std::string dropped_of_deferred(const std::string& members) {
  return dropped_of("\"deferred_artifacts\":[{" + members + "}]");
}

TEST(FilesRecord, AnArtifactIsWrittenInOneOrder) {
  EXPECT_EQ(
      contract_of(with(R"("artifacts":[{"auto_open":true,"category":"report","viewer":"html",)"
                       R"("description":"Q3 \u001b[1mreport\u001b[0m","size":245760,)"
                       R"("mime":"text/HTML","path":"\/tmp/alice/r.html","name":"r.html"}])")),
      R"({"results":{},"artifacts":[{"name":"r.html","path":"/tmp/alice/r.html",)"
      R"("mime":"text/html","description":"Q3 report","viewer":"html","category":"report",)"
      R"("auto_open":true}],"deferred_artifacts":[],)" +
          kNoDisplay);
}

TEST(FilesRecord, ADeferredArtifactIsWrittenInOneOrder) {
  EXPECT_EQ(
      contract_of(with(R"("deferred_artifacts":[{"expires_hours":1,"category":"draft",)"
                       R"("next_actions":["Open\nit","Sign it"],"reason":"awaiting_approval",)"
                       R"("description":"d","mime":"a/b","path":"/p","name":"n"}])")),
      R"({"results":{},"artifacts":[],"deferred_artifacts":[{"name":"n","path":"/p",)"
      R"("mime":"a/b","description":"d","reason":"awaiting_approval",)"
      R"("next_actions":["Open it","Sign it"],"category":"draft","expires_hours":1}],)" +
          kNoDisplay);
}

TEST(FilesRecord, NamesAreStringsOfBoundedLength) {
  const std::string rule = "a string of 1 to 1024 characters";
  const auto named = [](const std::string& name) {
    return dropped_of_artifact(R"("b64":"","mime":"a/b","name":)" + name);
  };
  EXPECT_EQ(named(quoted(1'024, "\xC3\xA9")), "none");
  EXPECT_EQ(named(quoted(1'024, "\\ud83d\\ude00")), "none");
  for (const std::string& name :
       {quoted(1'025, "a"), quoted(0, ""), std::string("1"), std::string("null")})
    EXPECT_EQ(named(name), "artifacts[0].name: must be " + rule);
  EXPECT_EQ(dropped_of_artifact(R"("b64":"","mime":"a/b")"), "artifacts[0].name: must be " + rule);
  EXPECT_EQ(dropped_of_deferred(R"("path":"/p","mime":"a/b")"),
            "deferred_artifacts[0].name: must be " + rule);
}

TEST(FilesRecord, AFileWhoseNameBreaksTheRuleHasAnotherOne) {
  const auto name_of = [](const std::string& file) {
    const std::string contract = contract_of(with(R"("artifacts":[{)" + file + "}]"));
    const std::string before = R"("artifacts":[{"name":")";
    const size_t at = contract.find(before);
    if (at == std::string::npos) return std::string("none");
    const std::string rest = contract.substr(at + before.size());
    return rest.substr(0, rest.find('"'));
  };
  EXPECT_EQ(name_of(R"("b64":"","name":")" + std::string(1'022, 'a') + R"(.pdf")"),
            std::string(1'020, 'a') + ".pdf");
  EXPECT_EQ(name_of(R"("b64":"","name":)" + quoted(1'025, "\xC3\xA9")).size(), 2'048U);
  EXPECT_EQ(name_of(R"("b64":"")"), "file");
  EXPECT_EQ(name_of(R"("b64":"","name":1)"), "file");
  EXPECT_EQ(name_of(R"("name":"","path":"/tmp/alice/r.html")"), "r.html");
  EXPECT_EQ(name_of(R"("path":"/tmp/alice/")"), "file");
}

TEST(FilesRecord, AFileWithoutContentIsLeftOutAndTheOthersStay) {
  const std::string good = R"({"name":"b","path":"/p","mime":"a/b"})";
  const std::string written = R"({"name":"b","path":"/p","mime":"a/b")";
  for (const char* bad : {"1", "null", R"({"name":"a"})", R"({"name":"a","b64":"?"})",
                          R"({"name":"a","path":""})", R"({"name":"a","s3_ref":{}})"}) {
    const std::string list = R"(":[)" + std::string(bad) + "," + good + "]";
    for (const char* key : {"artifacts", "deferred_artifacts"}) {
      const std::string contract = contract_of(with("\"" + std::string(key) + list));
      EXPECT_NE(contract.find("\"" + std::string(key) + "\":[" + written), std::string::npos)
          << bad;
      EXPECT_TRUE(dropped_of("\"" + std::string(key) + list).starts_with(std::string(key) + "[0]"))
          << bad;
    }
  }
}

TEST(FilesRecord, FilesOfOneNameAreAllTaken) {
  const std::string file = R"({"name":"a","path":"/p","mime":"a/b"})";
  EXPECT_EQ(dropped_of("\"artifacts\":[" + file + "," + file + R"(],"deferred_artifacts":[)" +
                       file + R"(],"display":{"primary_file":"a"})"),
            "none");
}

TEST(FilesRecord, AnArtifactHasBytesOrAPath) {
  const std::string rule = "artifacts[0]: must have b64 or path";
  const std::string file = R"("name":"a","mime":"a/b")";
  EXPECT_EQ(dropped_of_artifact(file), rule);
  EXPECT_EQ(dropped_of_artifact(file + R"(,"b64":null,"path":null)"), rule);
  EXPECT_EQ(dropped_of_artifact(file + R"(,"b64":null,"path":"/p")"), "none");
  EXPECT_EQ(dropped_of_artifact(file + R"(,"b64":"","path":null)"), "none");
}

TEST(FilesRecord, OfBytesAndAPathTheBytesCountWhereTheyAreSome) {
  const auto with_both = [](const char* b64) {
    return with(R"("artifacts":[{"name":"a","mime":"a/b","path":"/p","b64":)" + std::string(b64) +
                "}]");
  };
  EXPECT_EQ(dropped_in(with_both(R"("QQ==")")),
            "artifacts[0].path: must be left out when b64 is given");
  EXPECT_NE(contract_of(with_both(R"("QQ==")")).find(R"("name":"a","b64":"QQ==","mime")"),
            std::string::npos);
  EXPECT_EQ(dropped_in(with_both("1")), "artifacts[0].b64: must be base64 (RFC 4648)");
  EXPECT_NE(contract_of(with_both("1")).find(R"("name":"a","path":"/p","mime")"),
            std::string::npos);
}

TEST(FilesRecord, BytesAreBase64OrAReference) {
  const auto holding = [](const std::string& b64) {
    return contract_of(with(R"("artifacts":[{"name":"a","mime":"a/b","b64":)" + b64 + "}]"));
  };
  const auto has = [&](const std::string& b64, const std::string& written) {
    return holding(b64).find(R"("b64":")" + written + "\"") != std::string::npos;
  };
  EXPECT_TRUE(has(R"("")", ""));
  EXPECT_TRUE(has(R"("_-A")", "/+A="));
  EXPECT_TRUE(has(R"("\/+\n\/+")", "/+/+"));
  EXPECT_TRUE(has(R"("artifact://a?type=image/png&size=3")", "artifact://a?type=image/png&size=3"));
  for (const char* b64 : {"1", "[]", "{}", R"("Q")", R"("not base64!")", R"("artifact://")",
                          R"("artifact://a b")", R"("data:a/b;base64,QQ==")"})
    EXPECT_EQ(dropped_of_artifact(std::string(R"("name":"a","mime":"a/b","b64":)") + b64),
              "artifacts[0].b64: must be base64 (RFC 4648)");
}

TEST(FilesRecord, PathsAreStrings) {
  const std::string rule = "a string of 1 to 4096 characters";
  const auto at = [](const std::string& path) {
    return dropped_of_artifact(R"("name":"a","mime":"a/b","path":)" + path);
  };
  EXPECT_EQ(at(quoted(4'096, "\xC3\xA9")), "none");
  for (const std::string& path : {quoted(4'097, "a"), quoted(0, ""), std::string("1")})
    EXPECT_EQ(at(path), "artifacts[0].path: must be " + rule);
  // Whether it may be opened is for the workspace to say.
  EXPECT_EQ(at(R"("/tmp/a\u0000")"), "none");
  EXPECT_EQ(dropped_of_deferred(R"("name":"a","mime":"a/b")"),
            "deferred_artifacts[0]: must have b64 or path");
}

TEST(FilesRecord, WhereBytesAreStoredIsNotForToolsToSay) {
  const std::string rule = "artifacts[0].s3_ref: must be left out: the client sets it";
  EXPECT_EQ(dropped_of_artifact(R"("name":"a","mime":"a/b","s3_ref":{"bucket":"b","key":"k"})"),
            rule + "\nartifacts[0]: must have b64 or path");
  EXPECT_EQ(dropped_of(artifact_with(R"("s3_ref":0)")), rule);
  EXPECT_EQ(dropped_of(artifact_with(R"("s3_ref":null)")), "none");
}

TEST(FilesRecord, TheTypeIsAMediaType) {
  const std::string what = "a media type such as text/csv";
  EXPECT_EQ(dropped_of_artifact(R"("name":"a","b64":"")"), "none");
  EXPECT_NE(contract_of(with(R"("artifacts":[{"name":"a","b64":"","mime":"csv"}])"))
                .find(R"([{"name":"a","b64":"","auto_open":false}])"),
            std::string::npos);
  EXPECT_EQ(dropped_of_artifact(R"("name":"a","b64":"","mime":"csv")"),
            "artifacts[0].mime: must be " + what);
  EXPECT_EQ(dropped_of_artifact(R"("name":"a","b64":"","mime":["text/csv"])"),
            "artifacts[0].mime: must be " + what);
  EXPECT_EQ(dropped_of_deferred(R"("name":"a","path":"/p","mime":"csv")"),
            "deferred_artifacts[0].mime: must be " + what);
}

TEST(FilesRecord, TheSizeIsAWholeNumber) {
  for (const char* size : {"0", "524288000", "12.0", "999999999999999", "null"})
    EXPECT_EQ(dropped_of(artifact_with(std::string("\"size\":") + size)), "none") << size;
  for (const char* size : {"-1", "1.5", "1e3", "1000000000000000", "\"1\"", "true", "-0"})
    EXPECT_EQ(dropped_of(artifact_with(std::string("\"size\":") + size)),
              "artifacts[0].size: must be a whole number from 0 to 999999999999999")
        << size;
}

TEST(FilesRecord, DescriptionsAreBoundedWithoutWhatDoesNotShow) {
  const std::string rule = ".description: must be a string of at most 2000 characters";
  for (const std::string& text :
       {quoted(2'000, "\xC3\xA9"), quoted(9'000, "\\u200b"), quoted(0, "")})
    EXPECT_EQ(dropped_of(artifact_with("\"description\":" + text)), "none");
  EXPECT_EQ(dropped_of(artifact_with("\"description\":" + quoted(2'001, "a"))),
            "artifacts[0]" + rule);
  EXPECT_EQ(dropped_of(deferred_with("\"description\":1")), "deferred_artifacts[0]" + rule);
}

TEST(FilesRecord, WordsAreThoseOfTheContract) {
  const std::string categories = ".category: must be one of report, dataset, visualization, draft";
  for (const char* word : {"image", "pdf", "html", "code", "data"})
    EXPECT_EQ(dropped_of(artifact_with(std::string("\"viewer\":\"") + word + "\"")), "none");
  EXPECT_EQ(dropped_of(artifact_with(R"("viewer":"PDF")")),
            "artifacts[0].viewer: must be one of image, pdf, html, code, data");
  for (const char* word : {"report", "dataset", "visualization", "draft"})
    EXPECT_EQ(dropped_of(deferred_with(std::string("\"category\":\"") + word + "\"")), "none");
  EXPECT_EQ(dropped_of(artifact_with(R"("category":"")")), "artifacts[0]" + categories);
  EXPECT_EQ(dropped_of(deferred_with(R"("category":1)")), "deferred_artifacts[0]" + categories);
  for (const char* word : {"needs_editing", "draft", "incomplete", "awaiting_approval"})
    EXPECT_EQ(dropped_of(deferred_with(std::string("\"reason\":\"") + word + "\"")), "none");
  EXPECT_EQ(dropped_of(deferred_with(R"("reason":"later")")),
            "deferred_artifacts[0].reason: must be one of needs_editing, draft, incomplete, "
            "awaiting_approval");
  EXPECT_EQ(dropped_of(artifact_with(R"("auto_open":"true")")),
            "artifacts[0].auto_open: must be true or false");
}

TEST(FilesRecord, NextActionsAreAFewLines) {
  const auto actions = [](const std::string& list) {
    return dropped_of(deferred_with("\"next_actions\":[" + list + "]"));
  };
  std::string twenty = "\"1\"";
  for (int i = 2; i <= 20; ++i) twenty += ",\"" + std::to_string(i) + "\"";
  EXPECT_EQ(actions(""), "none");
  EXPECT_EQ(actions(twenty), "none");
  EXPECT_EQ(
      actions(twenty + ",\"21\",\"22\""),
      "deferred_artifacts[0].next_actions: may have at most 20 strings: the others are left out");
  EXPECT_EQ(dropped_of(deferred_with(R"("next_actions":"Edit")")),
            "deferred_artifacts[0].next_actions: must be an array of strings");
  EXPECT_EQ(actions(quoted(500, "a")), "none");
  for (const std::string& action :
       {quoted(501, "a"), quoted(0, ""), quoted(3, "\\n"), std::string("1"), std::string("null")}) {
    EXPECT_EQ(actions("\"a\"," + action + ",\"b\""),
              "deferred_artifacts[0].next_actions[1]: must be a string of 1 to 500 characters");
    EXPECT_NE(contract_of(with(deferred_with("\"next_actions\":[\"a\"," + action + ",\"b\"]")))
                  .find(R"("next_actions":["a","b"])"),
              std::string::npos);
  }
}

TEST(FilesRecord, ExpiryIsInHours) {
  for (const char* hours : {"1", "72.0", "8760", "null"})
    EXPECT_EQ(dropped_of(deferred_with(std::string("\"expires_hours\":") + hours)), "none");
  for (const char* hours : {"0", "8761", "-1", "1.5", "\"72\""})
    EXPECT_EQ(dropped_of(deferred_with(std::string("\"expires_hours\":") + hours)),
              "deferred_artifacts[0].expires_hours: must be a whole number from 1 to 8760");
  EXPECT_NE(contract_of(with(deferred_with(R"("expires_hours":0)"))).find(R"("expires_hours":72)"),
            std::string::npos);
}

}  // namespace
}  // namespace sluice
