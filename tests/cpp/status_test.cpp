// Codes and statuses as callers see them.
#include "sluice/status.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sluice/tape.h"

namespace sluice {
namespace {

TEST(StatusTest, NamesEveryCodeOnce) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(Code::misuse); ++code)
    names.insert(code_name(static_cast<Code>(code)));
  const std::set<std::string_view> expected = {
      "OK",          "E_JSON_SYNTAX", "E_JSON_DEPTH", "E_JSON_NUMBER",  "E_JSON_END",
      "E_TOO_LARGE", "E_CONFIG_JSON", "E_CONFIG_KEY", "E_CONFIG_VALUE", "E_RESTORE_REFS",
      "E_MISUSE"};
  EXPECT_EQ(names, expected);
}

TEST(StatusTest, WritesJsonWithoutEmptyFields) {
  EXPECT_EQ(status_json({Code::json_syntax, 3, 14, "", "a comma was expected"}),
            R"({"code":"E_JSON_SYNTAX","message":"a comma was expected","line":3,"column":14})");
  EXPECT_EQ(status_json({Code::config_key, 0, 0, "resources.\"x\n", "unknown"}),
            R"({"code":"E_CONFIG_KEY","message":"unknown","path":"resources.\"x\n"})");
  EXPECT_EQ(status_json({}), R"({"code":"OK"})");
}

TEST(StatusTest, IsAlwaysJson) {
  const Status status{Code::misuse, 1, 2, "\xed\xa0\x80 \x01", "say \"please\"\\"};
  const std::string json = status_json(status);
  Tape tape;
  ASSERT_TRUE(Tape::parse(json, tape, 512, false).ok());
  EXPECT_EQ(tape.string(*tape.find(0, "path")), status.path);
  EXPECT_EQ(tape.string(*tape.find(0, "message")), status.message);
}

}  // namespace
}  // namespace sluice
