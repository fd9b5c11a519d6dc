// Databases that anyone may have made: opened, listed and read, with the check and without it.
#include <sqlite3.h>

#include <cstdint>
#include <string>

#include "sluice/tables.h"
#include "tables/tables_fixture.h"

namespace {

using namespace sluice;

/// A small database with what there is in one; the input changes its bytes.
std::string make_seed() {
  const TableQuery query(read_from({}), {});
  sqlite3* made = nullptr;
  sqlite3_open_v2(":memory:", &made, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  sqlite3_exec(
      made,
      "PRAGMA page_size=512; CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b REAL, c AS (b * 2));"
      "CREATE INDEX i ON t(a) WHERE b > 0; CREATE TABLE w (k PRIMARY KEY, v) WITHOUT ROWID;"
      "CREATE VIEW v AS SELECT a, v FROM t JOIN w ON k = a; CREATE VIEW f AS SELECT count(*) FROM "
      "t;"
      "CREATE TRIGGER g AFTER INSERT ON w BEGIN DELETE FROM t; END;"
      "INSERT INTO t (a, b) VALUES ('x', 1), ('y', 2.5), (zeroblob(900), NULL);"
      "INSERT INTO w VALUES ('x', 9), ('y', x'00ff');",
      nullptr, nullptr, nullptr);
  sqlite3_int64 size = 0;
  unsigned char* const bytes = sqlite3_serialize(made, "main", &size, 0);
  std::string text(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(made);
  return text;
}

void ask(const std::string& bytes, bool is_known) {
  TableQuery query(read_from({bytes}, 70'000), {500, uint64_t{16} << 20, 1000});
  if (!query.open_database(0, bytes.size(), is_known, "")) return;
  query.describe();
  for (const char* sql : {"SELECT * FROM v", "SELECT count(*), max(a), sum(c) FROM t GROUP BY b",
                          "SELECT * FROM t WHERE a > 'w'", "SELECT * FROM w", "SELECT * FROM f",
                          "SELECT sql FROM sqlite_schema"}) {
    answer(query, sql);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string seed = make_seed();
  if (size == 0) return 0;
  std::string bytes = seed;
  // Four bytes each: a place, what stands there, and how often.
  for (size_t at = 1; at + 3 < size; at += 4) {
    const size_t place = (data[at] << 8 | data[at + 1]) % bytes.size();
    for (size_t count = data[at + 3] % 8 + 1, each = place; count > 0 && each < bytes.size();
         --count)
      bytes[each++] = static_cast<char>(data[at + 2]);
  }
  ask(bytes, (data[0] & 1) != 0);
  return 0;
}
