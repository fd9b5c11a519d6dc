// Databases of SQLite as artifacts, made here in memory; and whatever becomes of their bytes.
#include "tables/stored_database.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <random>

#include "tables/tables_fixture.h"

namespace sluice {
namespace {

/// The bytes of a database that statements make.
std::string make_database(const char* sql) {
  // Its limits are those of the process.
  const TableQuery query(read_from({}), {});
  sqlite3* made = nullptr;
  EXPECT_EQ(sqlite3_open_v2(":memory:", &made, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr),
            SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(made, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(made);
  sqlite3_int64 size = 0;
  unsigned char* const bytes = sqlite3_serialize(made, "main", &size, 0);
  std::string text(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(made);
  return text;
}

std::string make_shop() {
  return make_database(
      "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, born DATE);"
      "CREATE TABLE orders (user_id INTEGER, total REAL, twice AS (total * 2));"
      "CREATE INDEX by_total ON orders(total) WHERE total > 0;"
      "CREATE TABLE kv (k TEXT PRIMARY KEY, v) WITHOUT ROWID;"
      "CREATE VIEW rich AS SELECT name, total FROM users JOIN orders ON user_id = id;"
      "CREATE VIEW counted AS SELECT count(*) FROM users;"
      "INSERT INTO users VALUES (1, 'Ann', '1990-01-02'), (2, 'Bob', NULL);"
      "INSERT INTO orders VALUES (1, 120.5), (2, 80), (1, 7);"
      "INSERT INTO kv VALUES ('a', x'00ff'), ('b', zeroblob(5000));"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)"
      "INSERT INTO users SELECT i + 10, 'name ' || i, NULL FROM n;");
}

std::string ask_database(const std::string& bytes, std::string_view sql, bool is_known = false) {
  TableQuery query(read_from({bytes}, 70'000), {2000, uint64_t{32} << 20, 1000});
  if (!query.open_database(0, bytes.size(), is_known, "")) return query.failure().message;
  return answer(query, sql);
}

TEST(StoredDatabase, IsAskedByTheNamesOfItsTables) {
  const std::string shop = make_shop();
  EXPECT_EQ(ask_database(shop,
                         "SELECT name, total, twice FROM users JOIN orders ON user_id = id "
                         "WHERE total > 10 ORDER BY total"),
            "Bob|80|160\nAnn|120.5|241");
  EXPECT_EQ(ask_database(shop, "SELECT count(*), sum(total) FROM rich"), "3|207.5");
  EXPECT_EQ(ask_database(shop, "SELECT * FROM kv"),
            "a|x'00ff'\nb|x'00000000000000000000000000000000…' (5000 bytes)");
  EXPECT_EQ(ask_database(shop, "SELECT * FROM counted"),
            "failure: access to view \"counted\" prohibited");
}

TEST(StoredDatabase, ChangesNothing) {
  const std::string shop = make_shop();
  for (const char* sql :
       {"DELETE FROM users", "CREATE TABLE t (a)", "CREATE TEMP TABLE t (a)",
        "PRAGMA user_version=3", "PRAGMA journal_mode", "ATTACH 'x' AS y", "VACUUM",
        "SELECT load_extension('x')", "SELECT * FROM pragma_database_list",
        "SELECT * FROM pragma_integrity_check"}) {
    EXPECT_TRUE(ask_database(shop, sql).starts_with("failure: ")) << sql;
  }
}

TEST(StoredDatabase, TellsItsTables) {
  const std::string bytes = make_database(
      "CREATE TABLE \"a \"\"b\" (x INTEGER, y); CREATE VIEW v AS SELECT random() AS r;");
  TableQuery query(read_from({bytes}), {});
  ASSERT_TRUE(query.open_database(0, bytes.size(), false, ""));
  EXPECT_EQ(
      query.describe(),
      "{\"isChecked\":true,\"tables\":[{\"name\":\"a \\\"b\",\"columns\":[{\"name\":\"x\","
      "\"type\":\"INTEGER\"},{\"name\":\"y\",\"type\":\"\"}]},{\"name\":\"v\",\"isView\":true,"
      "\"refusal\":\"calls the function random\",\"columns\":[]}]}");
}

TEST(StoredDatabase, TellsWhereItIsCutOff) {
  const std::string shop = make_shop();
  EXPECT_EQ(ask_database(shop.substr(0, 3 * 4096), "SELECT 1"),
            "The database is cut off: it has 3 of its " + std::to_string(shop.size() / 4096) +
                " pages. Fetch the file again.");
}

TEST(StoredDatabase, TellsThatTheHostCannotRead) {
  TableQuery query([](uint32_t, uint64_t, std::span<char>) -> ptrdiff_t { return -1; }, {});
  EXPECT_FALSE(query.open_database(0, 8192, false, ""));
  EXPECT_EQ(query.failure().fault, QueryFault::kRead);
}

/// Damaged anywhere it gives rows or a failure, with the check and without it.
TEST(StoredDatabase, StaysWholeWhateverItsBytesAre) {
  const std::string shop = make_shop();
  std::mt19937 random(50);
  for (int run = 0; run < 400; ++run) {
    std::string damaged = shop;
    for (unsigned change = 1 + random() % 12; change > 0; --change) {
      // The schema is more often wrong than the rest.
      const size_t within = random() % 2 == 0 ? 4096 : damaged.size();
      damaged[random() % within] = static_cast<char>(random() % 4 == 0 ? 0xFF : random());
    }
    if (random() % 8 == 0) damaged.resize(random() % damaged.size());
    for (const bool is_known : {false, true}) {
      ask_database(damaged, "SELECT count(*), max(name), sum(total) FROM rich", is_known);
      ask_database(damaged, "SELECT * FROM kv JOIN orders ORDER BY v, twice", is_known);
      ask_database(damaged, "SELECT name, sql FROM sqlite_schema", is_known);
    }
  }
}

}  // namespace
}  // namespace sluice
