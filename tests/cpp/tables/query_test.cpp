#include <gtest/gtest.h>

#include <array>
#include <random>

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

TEST(Query, JoinsByColumnsInCommon) {
  for (const std::string join : {"JOIN places USING (city)", "NATURAL JOIN places"}) {
    TableQuery query(read_from({kOrders, "city,land,size\nRome,IT,2\nParis,FR,3\n"}), {});
    query.add_csv("rows", 0, 0, ',', '\n', false);
    query.add_csv("places", 1, 0, ',', '\n', false);
    EXPECT_EQ(answer(query, "SELECT land, SUM(total) FROM rows " + join + " GROUP BY 1 ORDER BY 1"),
              "FR|165.75\nIT|80");
  }
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

/// The same of a copy, which SQLite groups and sorts without help.
std::string ask_copy(const std::string& text, std::string sql) {
  const std::string from = " FROM rows";
  sql.replace(sql.find(from), from.size(), " FROM copy");
  return ask_csv(text, "WITH copy AS MATERIALIZED (SELECT * FROM rows) " + sql);
}

class Grouped : public testing::TestWithParam<const char*> {};

TEST_P(Grouped, IsWhatSqliteSays) {
  const std::string text =
      "k,c,n,x\na,x,1,1.5\nb,y,,2\n,x,3,2.5\na,y,1,\nb,,9223372036854775807,0.1\na,x,3,0.2\n";
  EXPECT_EQ(ask_csv(text, GetParam()), ask_copy(text, GetParam())) << GetParam();
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
        "SELECT k, SUM(n), COUNT(x) FROM rows WHERE n >= 1 AND x < 9007199254740993 GROUP BY k "
        "ORDER BY k",
        "SELECT k, MAX(n), MIN(x), MAX(x) FROM rows WHERE c <> 'z' AND n IS NOT NULL GROUP BY k "
        "ORDER BY k",
        "SELECT k, COUNT(*), COUNT(DISTINCT k), MIN(k) FROM rows WHERE c LIKE '%X%' GROUP BY k "
        "ORDER BY k",
        "SELECT c, COUNT(*) FROM rows WHERE x IN (1.5, 2.5, 0.5) GROUP BY c ORDER BY c",
        "SELECT c, n, COUNT(*) FROM rows WHERE n < 4 OR x > 1 GROUP BY c, n ORDER BY c, n",
        "SELECT COUNT(*) FROM rows WHERE k = 'none' GROUP BY k",
        "SELECT COUNT(DISTINCT k) FROM rows WHERE k = 'none'",
        "SELECT c, group_concat(k) FROM rows GROUP BY c ORDER BY c"));

TEST_P(Grouped, IsWhatSqliteSaysOfCellsThatAreOtherThanTheirColumn) {
  // The first thousand rows say that `n` and `x` are numbers.
  std::string text = "k,c,n,x\n";
  for (int row = 0; row < 1000; ++row) text += "a,x,1,0.5\n";
  text +=
      "a,x,n/a,2.5\nb,y,12E4,007\nb,,9007199254740993,9007199254740992.0\n,x,2,-\nz,y,0x1,1e400\n"
      "c,z,9223372036854775806,\nc,z, 3,1e3\n";
  EXPECT_EQ(ask_csv(text, GetParam()), ask_copy(text, GetParam())) << GetParam();
}

TEST(Grouped, FailsWhereASumDoesNotFit) {
  const std::string text = "k,n\na,9223372036854775807\na,1\n";
  EXPECT_EQ(ask_csv(text, "SELECT k, SUM(n) FROM rows GROUP BY k"), "failure: integer overflow");
}

TEST(Grouped, KeepsNoMoreTextsThanFit) {
  std::string text = "k,t\n";
  for (int row = 0; row < 4000; ++row)
    text += std::to_string(row) + ',' + std::string(1000, 'x') + '\n';
  TableQuery query(read_from({text}), {.memory = 2 << 20});
  query.add_csv("rows", 0, 0, ',', '\n', false);
  answer(query, "SELECT k, MAX(t) FROM rows GROUP BY k");
  EXPECT_EQ(query.failure().fault, QueryFault::kMemory);
}

class Ordered : public testing::TestWithParam<const char*> {};

TEST_P(Ordered, IsWhatSqliteSays) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::string text = "id,n,t,x\n";
    for (int row = 0; row < 200; ++row) {
      const auto pick = [&](auto... values) {
        const std::array<std::string, sizeof...(values)> all{values...};
        return all[random() % all.size()];
      };
      text += std::to_string(row) + ',' + std::to_string(random() % 40) + ',' +
              pick("a", "b", "", "B", "zz", std::string(300, 'y')) + ',' +
              pick("1.5", "2", "", "-3", "0.25", "9007199254740992.0", "1e3") + '\n';
    }
    EXPECT_EQ(ask_csv(text, GetParam()), ask_copy(text, GetParam())) << GetParam();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Limits, Ordered,
    testing::Values("SELECT * FROM rows ORDER BY n DESC, id LIMIT 10",
                    "SELECT id FROM rows ORDER BY n, id LIMIT 3 OFFSET 5",
                    "SELECT id FROM rows ORDER BY n, id LIMIT 2, 4",
                    "SELECT id, t FROM rows ORDER BY t, id LIMIT 40",
                    "SELECT id, t FROM rows ORDER BY t DESC, n DESC, id LIMIT 7",
                    "SELECT id, x FROM rows ORDER BY x DESC, id LIMIT 15",
                    "SELECT id, x FROM rows ORDER BY x, id DESC LIMIT 60",
                    "SELECT id FROM rows ORDER BY x NULLS LAST, id LIMIT 5",
                    "SELECT id FROM rows ORDER BY t COLLATE NOCASE, id LIMIT 5",
                    "SELECT id FROM rows ORDER BY -n, id LIMIT 5",
                    "SELECT id FROM rows WHERE n > 20 ORDER BY n, id LIMIT 5",
                    "SELECT id FROM rows WHERE x > 1 ORDER BY x DESC, id LIMIT 5",
                    "SELECT id FROM rows WHERE t LIKE '%b%' ORDER BY n DESC, id LIMIT 5",
                    "SELECT id FROM rows WHERE t IS NULL ORDER BY n DESC, id LIMIT 5",
                    "SELECT id FROM rows WHERE n % 2 = 0 ORDER BY n DESC, id LIMIT 5",
                    "SELECT id FROM rows WHERE n IN (3, 4, 5) ORDER BY n DESC, id LIMIT 50",
                    "SELECT id FROM rows ORDER BY n LIMIT 0",
                    "SELECT id FROM rows ORDER BY n, id LIMIT -1 OFFSET 190",
                    "SELECT id FROM rows ORDER BY n, id LIMIT 5 OFFSET -2",
                    "SELECT DISTINCT n FROM rows ORDER BY n LIMIT 5"));

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
