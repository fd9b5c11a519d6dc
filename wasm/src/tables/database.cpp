#include "tables/database.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "tables/functions.h"

namespace sluice::tables {

// --- what SQLite needs of a system -----------------------------------------------------------

namespace {

/// Databases are in memory and temporary ones too, so that no file is ever opened here.
int open_file(sqlite3_vfs* /*system*/, const char* /*name*/, sqlite3_file* file, int /*flags*/,
              int* /*out*/) {
  file->pMethods = nullptr;
  return SQLITE_CANTOPEN;
}
int delete_file(sqlite3_vfs* /*system*/, const char* /*name*/, int /*sync*/) {
  return SQLITE_IOERR_DELETE;
}
int find_file(sqlite3_vfs* /*system*/, const char* /*name*/, int /*flags*/, int* found) {
  *found = 0;
  return SQLITE_OK;
}
int name_file(sqlite3_vfs* /*system*/, const char* name, int size, char* out) {
  sqlite3_snprintf(size, out, "%s", name);
  return SQLITE_OK;
}
/// Seeds RANDOM(), which nothing secret depends on.
int give_random(sqlite3_vfs* /*system*/, int size, char* out) {
  auto seed = static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  for (int at = 0; at < size; ++at) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    out[at] = static_cast<char>(seed >> 56);
  }
  return size;
}
int wait(sqlite3_vfs* /*system*/, int microseconds) {
  return microseconds;
}
/// Milliseconds of the Julian calendar, which begins 210,866,760,000,000 of them before 1970.
int tell_time(sqlite3_vfs* /*system*/, sqlite3_int64* milliseconds) {
  constexpr sqlite3_int64 kUnixEpoch = 210866760000000;
  *milliseconds = kUnixEpoch + static_cast<sqlite3_int64>(std::time(nullptr)) * 1000;
  return SQLITE_OK;
}
int tell_days(sqlite3_vfs* system, double* days) {
  constexpr double kMillisecondsPerDay = 86400000;
  sqlite3_int64 milliseconds = 0;
  tell_time(system, &milliseconds);
  *days = static_cast<double>(milliseconds) / kMillisecondsPerDay;
  return SQLITE_OK;
}

}  // namespace

}  // namespace sluice::tables

extern "C" int sqlite3_os_init(void) {
  static sqlite3_vfs system = [] {
    sqlite3_vfs made{};
    made.iVersion = 2;
    made.szOsFile = sizeof(sqlite3_file);
    made.mxPathname = 64;
    made.zName = "sluice";
    made.xOpen = sluice::tables::open_file;
    made.xDelete = sluice::tables::delete_file;
    made.xAccess = sluice::tables::find_file;
    made.xFullPathname = sluice::tables::name_file;
    made.xRandomness = sluice::tables::give_random;
    made.xSleep = sluice::tables::wait;
    made.xCurrentTime = sluice::tables::tell_days;
    made.xCurrentTimeInt64 = sluice::tables::tell_time;
    return made;
  }();
  return sqlite3_vfs_register(&system, 1);
}

extern "C" int sqlite3_os_end(void) {
  return SQLITE_OK;
}

namespace sluice::tables {

// --- statements ------------------------------------------------------------------------------

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(statement_, other.statement_);
  return *this;
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

// --- the database ----------------------------------------------------------------------------

namespace {

/// Most of each that a query may have.
constexpr std::array<std::pair<int, int>, 9> kLimits{{
    {SQLITE_LIMIT_LENGTH, 64 * 1024 * 1024},
    {SQLITE_LIMIT_SQL_LENGTH, 100000},
    {SQLITE_LIMIT_COLUMN, 32767},
    {SQLITE_LIMIT_EXPR_DEPTH, 200},
    {SQLITE_LIMIT_COMPOUND_SELECT, 50},
    {SQLITE_LIMIT_VDBE_OP, 250000},
    {SQLITE_LIMIT_FUNCTION_ARG, 100},
    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
    {SQLITE_LIMIT_WORKER_THREADS, 0},
}};

/// Most bytes of a statement of our own.
constexpr int kOwnLength = 16 * 1024 * 1024;

/// Instructions between two looks at the clock, and names less one.
constexpr int kInstructions = 20000;
constexpr uint64_t kLooks = 0x3F;

/// Whether a function is written as an operator.
bool is_operator(std::string_view function) {
  return function == "like" || function == "glob" || function == "->" || function == "->>";
}

/// Whether a pragma says what there is, and does nothing.
bool tells_schema(std::string_view pragma) {
  return pragma == "table_info" || pragma == "table_list" || pragma == "index_list" ||
         pragma == "index_info" || pragma == "foreign_key_list";
}

bool is_space(char character) {
  return character == ' ' || character == '\t' || character == '\n' || character == '\r' ||
         character == '\f';
}

/// Whether nothing but comments and space is left.
bool is_blank(std::string_view rest) {
  while (!rest.empty()) {
    if (is_space(rest[0]) || rest[0] == ';') {
      rest.remove_prefix(1);
    } else if (rest.starts_with("--")) {
      rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
    } else if (rest.starts_with("/*")) {
      const size_t end = rest.find("*/", 2);
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string explain_damage(std::string_view page) {
  return "The database is damaged" + (page.empty() ? "" : " at page " + std::string(page)) +
         ", and what it holds cannot be trusted: repair it with .recover of sqlite3, or fetch it "
         "again.";
}

Database::Database(QueryLimits limits)
    : limits_(limits),
      deadline_(std::chrono::steady_clock::now() +
                std::chrono::microseconds(static_cast<int64_t>(limits.milliseconds * 1000))) {
  sqlite3_hard_heap_limit64(static_cast<sqlite3_int64>(limits.memory));
  tables_.is_late = [this] { return is_late(); };
  connect(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
}

bool Database::connect(const char* name, int flags, const char* system) {
  sqlite3_close_v2(database_);
  database_ = nullptr;
  const int result = sqlite3_open_v2(name, &database_, flags, system);
  if (result != SQLITE_OK) {
    fail(database_ == nullptr ? SQLITE_NOMEM : result);
    return false;
  }
  for (const auto& [limit, most] : kLimits) sqlite3_limit(database_, limit, most);
  sqlite3_db_config(database_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  add_functions(database_);
  sqlite3_set_authorizer(database_, authorize, this);
  sqlite3_progress_handler(database_, kInstructions, check_time, this);
  return true;
}

Database::Hurry::Hurry(Database& database, double milliseconds)
    : database_(database), deadline_(database.deadline_) {
  const auto now = std::chrono::steady_clock::now();
  database.deadline_ = std::min(
      deadline_, now + std::chrono::microseconds(static_cast<int64_t>(milliseconds * 1000)));
}

Database::~Database() {
  sqlite3_close_v2(database_);
}

bool Database::is_late() const {
  return std::chrono::steady_clock::now() >= deadline_;
}

int Database::check_time(void* context) {
  return static_cast<Database*>(context)->is_late() ? 1 : 0;
}

/// A question reads, calls functions, and may recurse; everything else is refused.
int Database::authorize(void* context, int action, const char* a, const char* b, const char* /*c*/,
                        const char* /*d*/) {
  auto& self = *static_cast<Database*>(context);
  if (self.is_trusted_) return SQLITE_OK;
  // Views of views take long before the first instruction.
  if ((++self.looks_ & kLooks) == 0 && self.is_late()) return SQLITE_DENY;
  if (action == SQLITE_READ && a != nullptr && b != nullptr) {
    for (Tables::Named& named : self.tables_.named) {
      if (named.name == a) named.read.insert(b);
    }
  }
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      if (b == nullptr || std::string_view(b) == "load_extension") return SQLITE_DENY;
      if (!self.is_strict_ || is_operator(b)) return SQLITE_OK;
      if (self.denied_.empty()) self.denied_ = b;
      return SQLITE_DENY;
    case SQLITE_PRAGMA:
      // A table that tells of it runs one; as a statement of its own it is no SELECT.
      return a != nullptr && tells_schema(a) && !self.is_preparing_ ? SQLITE_OK : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

int Database::run_own(const std::string& sql) {
  return trust([&] { return sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr); });
}

bool Database::run(const std::string& sql) {
  const int result = run_own(sql);
  if (result != SQLITE_OK) fail(result);
  return result == SQLITE_OK;
}

bool Database::add() {
  const int result = trust([&] { return add_table(database_, tables_); });
  if (result != SQLITE_OK) fail(result);
  return result == SQLITE_OK;
}

int Database::trust(const std::function<int()>& work) {
  // A table may have thousands of columns, whose names are longer than a query.
  const int length = sqlite3_limit(database_, SQLITE_LIMIT_SQL_LENGTH, kOwnLength);
  is_trusted_ = true;
  const int result = work();
  is_trusted_ = false;
  sqlite3_limit(database_, SQLITE_LIMIT_SQL_LENGTH, length);
  return result;
}

Statement Database::prepare_own(std::string_view sql) {
  sqlite3_stmt* made = nullptr;
  trust([&] {
    return sqlite3_prepare_v2(database_, sql.data(), static_cast<int>(sql.size()), &made, nullptr);
  });
  return Statement(made);
}

Statement Database::prepare_strictly(std::string_view sql) {
  sqlite3_stmt* made = nullptr;
  denied_.clear();
  is_strict_ = true;
  sqlite3_prepare_v2(database_, sql.data(), static_cast<int>(sql.size()), &made, nullptr);
  is_strict_ = false;
  return Statement(made);
}

Statement Database::prepare(std::string_view sql) {
  sqlite3_stmt* made = nullptr;
  const char* rest = nullptr;
  is_preparing_ = true;
  const int result =
      sqlite3_prepare_v3(database_, sql.data(), static_cast<int>(sql.size()), 0, &made, &rest);
  is_preparing_ = false;
  Statement statement(made);
  if (result != SQLITE_OK) {
    const bool is_denied = result == SQLITE_AUTH && !is_late();
    fail(result == SQLITE_AUTH && !is_denied ? SQLITE_INTERRUPT : result);
    if (is_denied) failure_.message = "A query is one SELECT: it reads, and changes nothing.";
    return {};
  }
  const bool is_one =
      made != nullptr && is_blank({rest, static_cast<size_t>(sql.data() + sql.size() - rest)});
  if (is_one && sqlite3_column_count(made) > 0 && sqlite3_stmt_readonly(made) != 0 &&
      sqlite3_stmt_isexplain(made) == 0) {
    return statement;
  }
  failure_.fault = QueryFault::kQuery;
  failure_.message = made == nullptr ? "The query is empty: write one SELECT."
                                     : "A query is one SELECT, and no more.";
  return {};
}

void Database::fail(int result) {
  if (failure_.fault != QueryFault::kNone) return;
  failure_.message = database_ == nullptr ? "out of memory" : sqlite3_errmsg(database_);
  failure_.rows_read = tables_.rows;
  const ReadFailure& read = tables_.failure;
  failure_.table = read.table;
  failure_.row = read.row;
  failure_.groups = tables_.groups;
  switch (read.step) {
    case Step::kUnread:
      failure_.fault = QueryFault::kRead;
      return;
    case Step::kTooLong:
      failure_.fault = QueryFault::kRow;
      return;
    case Step::kDamaged:
      failure_.fault = QueryFault::kSyntax;
      return;
    case Step::kLate:
      failure_.fault = QueryFault::kTime;
      return;
    case Step::kTooMany:
      failure_.fault = QueryFault::kMemory;
      return;
    default:
      break;
  }
  if (has_failed_ && has_failed_()) {
    failure_.fault = QueryFault::kRead;
    return;
  }
  const int kind = result & 0xFF;
  if (kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB) {
    failure_.fault = QueryFault::kDatabase;
    failure_.message = kind == SQLITE_CORRUPT
                           ? explain_damage("")
                           : "The file begins as a database of SQLite does, and is none: it is "
                             "encrypted or damaged. Decrypt it, or fetch it again.";
    return;
  }
  if (kind == SQLITE_INTERRUPT)
    failure_.fault = QueryFault::kTime;
  else if (kind == SQLITE_NOMEM)
    failure_.fault = QueryFault::kMemory;
  else
    failure_.fault = QueryFault::kQuery;
}

}  // namespace sluice::tables
