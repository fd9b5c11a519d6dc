#include "tables/json_rows.h"

#include <gtest/gtest.h>

#include "tables/tables_fixture.h"

namespace sluice::tables {
namespace {

std::string ask_lines(const std::string& text, std::string_view sql) {
  TableQuery query(read_from({text}, 5), {});
  query.add_ndjson("rows", 0);
  return answer(query, sql);
}

std::string ask_json(const std::string& text, std::vector<std::string> keys, bool is_row,
                     std::string_view sql) {
  TableQuery query(read_from({text}, 3), {});
  query.add_json("rows", 0, keys, is_row);
  return answer(query, sql);
}

TEST(JsonRows, TakesMembersOfObjectsForColumns) {
  const std::string text =
      "{\"id\":1,\"who\":{\"name\":\"Ada\"},\"tags\":[1,2]}\r\n\n"
      "{\"tags\":null,\"id\":2.5,\"who\":\"B\\u00e9 \\\"x\\\"\",\"ok\":true}\n";
  EXPECT_EQ(ask_lines(text, "SELECT id, who, tags, ok FROM rows"),
            "1|{\"name\":\"Ada\"}|[1,2]|NULL\n2.5|B\xc3\xa9 \"x\"|NULL|1");
  EXPECT_EQ(ask_lines(text, "SELECT who ->> '$.name' FROM rows WHERE id = 1"), "Ada");
}

TEST(JsonRows, KeepsWholeNumbersExact) {
  EXPECT_EQ(ask_json("[{\"n\":9007199254740993},{\"n\":12345678901234567890}]", {}, false,
                     "SELECT n FROM rows"),
            "9007199254740993\n12345678901234567890");
  EXPECT_EQ(ask_json("[1E5, -0.5, NaN]", {}, false, "SELECT value FROM rows"),
            "100000\n-0.5\nNULL");
}

TEST(JsonRows, AreElementsOrMembersAtAPlace) {
  const std::string text =
      R"({"x":["]",{"a":[0,[{"k":1},{"k":2}]]}],"m":{"p":{"k":3},"q":{"k":4}}})";
  EXPECT_EQ(ask_json(text, {"x", "1", "a", "1"}, false, "SELECT SUM(k) FROM rows"), "3");
  EXPECT_EQ(ask_json(text, {"m"}, false, "SELECT key, k FROM rows"), "p|3\nq|4");
  EXPECT_EQ(ask_json(text, {"m", "q"}, true, "SELECT k FROM rows"), "4");
  EXPECT_EQ(ask_json("[[1,\"x\"],[2]]", {}, false, "SELECT * FROM rows"), "1|x\n2|NULL");
}

TEST(JsonRows, AreNowhereElse) {
  TableQuery query(read_from({R"({"n":1,"list":[1]})"}), {});
  EXPECT_FALSE(query.add_json("rows", 0, std::vector<std::string>{"n"}, false));
  EXPECT_EQ(query.failure().fault, QueryFault::kPlace);
}

class Damaged : public testing::TestWithParam<const char*> {};

TEST_P(Damaged, IsSaidWithTheRow) {
  TableQuery query(read_from({std::string("[{\"a\":1},") + GetParam()}, 4), {});
  query.add_json("rows", 0, {}, false);
  answer(query, "SELECT a FROM rows");
  EXPECT_EQ(query.failure().fault, QueryFault::kSyntax);
  EXPECT_EQ(query.failure().row, 2u);
}

INSTANTIATE_TEST_SUITE_P(Texts, Damaged,
                         testing::Values("{\"a\" 2}]", "{\"a\":2", "{a:2}]", "{\"a\":[1}]}]", "",
                                         "{\"a\":}]", "\"x", "{\"a\":1 \"b\":2}]"));

TEST(JsonRows, BeginBehindAByteOrderMarkThatComesInPieces) {
  EXPECT_EQ(ask_json("\xef\xbb\xbf[7]", {}, false, "SELECT value FROM rows"), "7");
}

TEST(JsonRows, HaveNamesThatSqlTellsApart) {
  EXPECT_EQ(ask_lines("{\"a\":1,\"A\":2,\"__proto__\":3}", "SELECT a, A_2, __proto__ FROM rows"),
            "1|2|3");
}

}  // namespace
}  // namespace sluice::tables
