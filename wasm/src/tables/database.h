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

  /// Adds the last of `tables`.
  bool add();
  /// Prepares one SELECT. Anything else is refused, with a failure.
  Statement prepare(std::string_view sql);
  /// Runs a statement of our own, past the authorizer.
  bool run(const std::string& sql);
  /// The rest of the time is up.
  bool is_late() const;
  /// Records what SQLite says went wrong.
  void fail(int result);

 private:
  sqlite3* database_ = nullptr;
  QueryLimits limits_;
  std::chrono::steady_clock::time_point deadline_;
  Tables tables_;
  QueryFailure failure_;
  bool is_trusted_ = false;

  /// Does work past the authorizer and the limit on the length of a query.
  bool trust(const std::function<int()>& work);
  static int authorize(void* context, int action, const char* a, const char* b, const char* c,
                       const char* d);
  static int check_time(void* context);
};

}  // namespace sluice::tables
