// SQLite, as far as a question may use it: in memory, read-only, within limits of time and memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "sluice/tables.h"
#include "tables/table.h"

struct sqlite3;
struct sqlite3_stmt;

namespace sluice::tables {

/// A statement, finalised when it goes.
class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  Statement(Statement&& other) noexcept : statement_(other.statement_) {
    other.statement_ = nullptr;
  }
  Statement& operator=(Statement&& other) noexcept;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  sqlite3_stmt* get() const { return statement_; }
  explicit operator bool() const { return statement_ != nullptr; }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

/// What is said of a database whose bytes are wrong: at a page, if it is known.
std::string explain_damage(std::string_view page);

/// A database in memory with its tables.
class Database {
 public:
  explicit Database(QueryLimits limits);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  sqlite3* get() const { return database_; }
  Tables& tables() { return tables_; }
  const QueryLimits& limits() const { return limits_; }
  QueryFailure& failure() { return failure_; }

  /// Opens another database in place of the one in memory: `name` of the file system `system`.
  bool connect(const char* name, int flags, const char* system);
  /// Tells failures of reading, which SQLite knows nothing of.
  void watch(std::function<bool()> has_failed) { has_failed_ = std::move(has_failed); }
  /// Adds the last of `tables`.
  bool add();
  /// Prepares one SELECT. Anything else is refused, with a failure.
  Statement prepare(std::string_view sql);
  /// Prepares one that may call no function. `denied` is the one that it called.
  Statement prepare_strictly(std::string_view sql);
  const std::string& denied() const { return denied_; }
  /// Prepares a statement of our own, past the authorizer.
  Statement prepare_own(std::string_view sql);
  /// Runs statements of our own, past the authorizer. The result is SQLite's.
  int run_own(const std::string& sql);
  /// The same, and a failure is one of the question.
  bool run(const std::string& sql);
  /// The rest of the time is up.
  bool is_late() const;
  /// Records what SQLite says went wrong.
  void fail(int result);

  /// As long as it lives, no more than so many milliseconds are left.
  class Hurry {
   public:
    Hurry(Database& database, double milliseconds);
    Hurry(const Hurry&) = delete;
    Hurry& operator=(const Hurry&) = delete;
    ~Hurry() { database_.deadline_ = deadline_; }

   private:
    Database& database_;
    std::chrono::steady_clock::time_point deadline_;
  };

 private:
  sqlite3* database_ = nullptr;
  QueryLimits limits_;
  std::chrono::steady_clock::time_point deadline_;
  Tables tables_;
  QueryFailure failure_;
  bool is_trusted_ = false;
  bool is_strict_ = false;
  bool is_preparing_ = false;
  uint64_t looks_ = 0;
  std::string denied_;
  std::function<bool()> has_failed_;

  /// Does work past the authorizer and the limit on the length of a query. The result is SQLite's.
  int trust(const std::function<int()>& work);
  static int authorize(void* context, int action, const char* a, const char* b, const char* c,
                       const char* d);
  static int check_time(void* context);
};

}  // namespace sluice::tables
