#include <gtest/gtest.h>

#include "tables/tables_fixture.h"

namespace sluice {
namespace {

const std::string kOrders =
    "id,customer,city,total\n"
    "1,Ann,Paris,120.5\n2,Bob,Rome,80\n3,Ann,Paris,45.25\n4,Cy,Oslo,300\n5,Dana,Rome,\n";

TEST(Query, ReadsRowsInOrder) {
  EXPECT_EQ(
      ask_csv(kOrders, "SELECT customer, total FROM rows WHERE city LIKE 'R%' OR total > 200"),
      "Bob|80\nCy|300\nDana|NULL");
  EXPECT_EQ(ask_csv(kOrders, "SELECT id FROM rows ORDER BY total DESC LIMIT 2"), "4\n1");
}

TEST(Query, JoinsTablesOfSeveralArtifacts) {
  TableQuery query(read_from({kOrders, "[{\"name\":\"Rome\",\"land\":\"IT\"}]", "x\ny\n"}), {});
  query.add_csv("rows", 0, 0, ',', '\n', false);
  query.add_json("cities", 1, {}, false);
  query.add_lines("lines", 2);
  EXPECT_EQ(answer(query,
                   "SELECT r.id, land, line FROM rows r JOIN cities c ON c.name = r.city "
                   "JOIN lines l ON l.number = r.id"),
            "2|IT|y");
}

TEST(Query, ReadsAnInnerTableOnce) {
  std::string text = "id\n";
  for (int id = 0; id < 3000; ++id) text += std::to_string(id) + '\n';
  const std::string sql = "SELECT COUNT(*) FROM rows a JOIN rows b ON a.id = b.id + 1";
  TableQuery query(read_from({text}), {});
  query.add_csv("rows", 0, 0, ',', '\n', false);
  EXPECT_EQ(answer(query, sql), "2999");
}

TEST(Query, WantsATableThatIsThere) {
  TableQuery query(read_from({kOrders}), {});
  query.add_csv("rows", 0, 0, ',', '\n', false);
  EXPECT_FALSE(query.prepare("SELECT id FROM pods"));
  EXPECT_EQ(query.failure().message, "no such table: pods");
  // It can be added then.
  query.add_csv("pods", 0, 0, ',', '\n', false);
  EXPECT_EQ(answer(query, "SELECT COUNT(*) FROM pods"), "5");
}

TEST(Query, TellsMembersThatLaterRowsAloneHave) {
  std::string text = "[";
  for (int id = 0; id < 1500; ++id) text += "{\"id\":" + std::to_string(id) + "},";
  text += "{\"id\":-1,\"late\":\"x\"}]";
  TableQuery query(read_from({text}), {});
  query.want_members({"late", "id"});
  query.add_json("rows", 0, {}, false);
  EXPECT_EQ(query.describe(), R"([{"name":"rows","columns":[{"name":"id","type":"INTEGER"},)"
                              R"({"name":"late","type":"ANY"}],"isOpen":true}])");
  EXPECT_EQ(answer(query, "SELECT id FROM rows WHERE late = 'x'"), "-1");
}

TEST(Query, TellsRowsThatAreLongerThanTheHeader) {
  TableQuery query(read_from({"a,b\n1,2\n1,2,3\n"}), {});
  query.add_csv("rows", 0, 0, ',', '\n', false);
  EXPECT_EQ(query.describe(), R"([{"name":"rows","columns":[{"name":"a","type":"INTEGER"},)"
                              R"({"name":"b","type":"INTEGER"}],"longer":1}])");
}

TEST(Query, GoesOnWhereATableCouldNotBeAdded) {
  TableQuery query(read_from({R"({"a":[{"v":1}]})"}), {});
  const std::vector<std::string> nowhere{"b"};
  const std::vector<std::string> there{"a"};
  EXPECT_FALSE(query.add_json("rows", 0, nowhere, false));
  EXPECT_EQ(query.failure().fault, QueryFault::kPlace);
  EXPECT_TRUE(query.add_json("rows", 0, there, false));
  EXPECT_EQ(answer(query, "SELECT v FROM rows"), "1");
}

class Refused : public testing::TestWithParam<const char*> {};

TEST_P(Refused, IsNoQuestion) {
  TableQuery query(read_from({kOrders}), {});
  query.add_csv("rows", 0, 0, ',', '\n', false);
  EXPECT_FALSE(query.prepare(GetParam()));
  EXPECT_EQ(query.failure().fault, QueryFault::kQuery);
}

INSTANTIATE_TEST_SUITE_P(Statements, Refused,
                         testing::Values("", ";", "-- nothing", "DROP TABLE rows",
                                         "DELETE FROM rows", "INSERT INTO rows VALUES (1,2,3,4)",
                                         "CREATE TABLE t(a)", "CREATE TEMP VIEW v AS SELECT 1",
                                         "ATTACH 'file' AS f", "PRAGMA page_count", "VACUUM",
                                         "BEGIN", "EXPLAIN SELECT 1", "SELECT 1; DROP TABLE rows",
                                         "SELECT load_extension('x')", "SELECT writefile('x', 'y')",
                                         "SELECT sluice_rows(id) FROM rows",
                                         "SELECT \"Paris\" FROM rows",
                                         "WITH a AS (SELECT 1) DELETE FROM rows"));

/// The same with a second table, which the hash table of groups does not answer.
std::string ask_sorter(const std::string& text, std::string sql) {
  const std::string from = " FROM rows";
  sql.insert(sql.find(from) + from.size(), ", (SELECT 1)");
  return ask_csv(text, sql);
}

class Grouped : public testing::TestWithParam<const char*> {};

TEST_P(Grouped, IsWhatSqliteSays) {
  const std::string text =
      "k,c,n,x\na,x,1,1.5\nb,y,,2\n,x,3,2.5\na,y,1,\nb,,9223372036854775807,0.1\na,x,3,0.2\n";
  EXPECT_EQ(ask_csv(text, GetParam()), ask_sorter(text, GetParam())) << GetParam();
}

INSTANTIATE_TEST_SUITE_P(
    Forms, Grouped,
    testing::Values(
        "SELECT k, COUNT(*) AS c FROM rows GROUP BY k ORDER BY k",
        "SELECT k, SUM(x), AVG(x), TOTAL(x), MIN(x), MAX(c) FROM rows GROUP BY 1 ORDER BY k",
        "SELECT upper(k) AS u, COUNT(n) FROM rows GROUP BY u HAVING COUNT(*) > 1 ORDER BY 2, u",
        "SELECT DISTINCT c FROM rows ORDER BY c", "SELECT DISTINCT k, c FROM rows ORDER BY k, c",
        "SELECT COUNT(DISTINCT n), COUNT(DISTINCT k), SUM(DISTINCT x) FROM rows",
        "SELECT k || c, COUNT(*) * 2 + 1 AS m FROM rows WHERE n >= 1 AND k <> 'z' GROUP BY k || c "
        "ORDER BY m DESC, 1 LIMIT 2",
        "SELECT c, COUNT(DISTINCT n) FROM rows GROUP BY c ORDER BY c",
        "SELECT CASE WHEN n > 2 THEN 'many' ELSE 'few' END AS size, COUNT(*) FROM rows GROUP BY "
        "size ORDER BY 1",
        "SELECT COUNT(*) FROM rows WHERE k = 'none' GROUP BY k",
        "SELECT COUNT(DISTINCT k) FROM rows WHERE k = 'none'",
        "SELECT c, group_concat(k) FROM rows GROUP BY c ORDER BY c"));

TEST(Grouped, FailsWhereASumDoesNotFit) {
  const std::string text = "k,n\na,9223372036854775807\na,1\n";
  EXPECT_EQ(ask_csv(text, "SELECT k, SUM(n) FROM rows GROUP BY k"), "failure: integer overflow");
}

TEST(Limits, BoundGroupsTimeAndMemory) {
  std::string text = "id,text\n";
  for (int id = 0; id < 20000; ++id) text += std::to_string(id) + ",some text\n";
  const auto fault = [&](std::string_view sql, const QueryLimits& limits) {
    TableQuery query(read_from({text}), limits);
    query.add_csv("rows", 0, 0, ',', '\n', false);
    answer(query, sql);
    return query.failure().fault;
  };
  QueryLimits few;
  few.groups = 100;
  EXPECT_EQ(fault("SELECT id, COUNT(*) FROM rows GROUP BY id", few), QueryFault::kMemory);
  QueryLimits hasty;
  hasty.milliseconds = 0;
  EXPECT_EQ(fault("SELECT COUNT(*) FROM rows WHERE text = 'none'", hasty), QueryFault::kTime);
  EXPECT_EQ(fault("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
                  "SELECT COUNT(*) FROM c",
                  hasty),
            QueryFault::kTime);
  QueryLimits small;
  small.memory = 1 << 20;
  EXPECT_EQ(fault("SELECT id FROM rows ORDER BY printf('%200d', id)", small), QueryFault::kMemory);
}

TEST(Limits, TellWhenTheHostCannotRead) {
  TableQuery query([](uint32_t, uint64_t, std::span<char>) -> ptrdiff_t { return -1; }, {});
  EXPECT_FALSE(query.add_csv("rows", 0, 0, ',', '\n', false));
  EXPECT_EQ(query.failure().fault, QueryFault::kRead);
}

TEST(Lines, AreRowsWithNumbers) {
  for (const size_t most : {size_t{1}, size_t{4}, SIZE_MAX}) {
    TableQuery query(read_from({"one\r\n\n" + std::string(100000, 'x') + "\nlast"}, most), {});
    query.add_lines("rows", 0);
    EXPECT_EQ(answer(query, "SELECT number, length(line), substr(line, 1, 4) FROM rows"),
              "1|3|one\n2|0|\n3|65536|xxxx\n4|4|last");
  }
}

}  // namespace
}  // namespace sluice
