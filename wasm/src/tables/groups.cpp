#include "tables/groups.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "text/ascii.h"

namespace sluice::tables {

// --- a hash table ----------------------------------------------------------------------------

namespace {

constexpr size_t kFirstSlots = 1024;

uint32_t hash_bytes(std::string_view bytes) {
  // FNV over words of eight bytes, whose bits are mixed at the end.
  uint64_t hash = 0x9E3779B97F4A7C15U ^ bytes.size();
  while (bytes.size() >= 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    hash = (hash ^ word) * 0xD6E8FEB86659FD93U;
    hash ^= hash >> 32;
    bytes.remove_prefix(8);
  }
  uint64_t word = 0;
  std::memcpy(&word, bytes.data(), bytes.size());
  hash = (hash ^ word) * 0xD6E8FEB86659FD93U;
  hash ^= hash >> 32;
  hash *= 0xD6E8FEB86659FD93U;
  return static_cast<uint32_t>(hash >> 32);
}

}  // namespace

std::string_view HashIndex::at(size_t index) const {
  const size_t begin = index == 0 ? 0 : ends_[index - 1];
  return std::string_view(bytes_).substr(begin, ends_[index] - begin);
}

size_t HashIndex::memory() const {
  return bytes_.capacity() + slots_.capacity() * 4 + hashes_.capacity() * 4 +
         ends_.capacity() * sizeof(size_t);
}

void HashIndex::grow() {
  slots_.assign(std::max(kFirstSlots, slots_.size() * 2), 0);
  const size_t mask = slots_.size() - 1;
  for (size_t index = 0; index < hashes_.size(); ++index) {
    size_t slot = hashes_[index] & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<uint32_t>(index + 1);
  }
}

HashIndex::Found HashIndex::add(std::string_view bytes) {
  if ((ends_.size() + 1) * 2 > slots_.size()) grow();
  const uint32_t hash = hash_bytes(bytes);
  const size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const uint32_t index = slots_[slot];
    if (index == 0) {
      bytes_.append(bytes);
      ends_.push_back(bytes_.size());
      hashes_.push_back(hash);
      slots_[slot] = static_cast<uint32_t>(ends_.size());
      return {ends_.size() - 1, true};
    }
    if (hashes_[index - 1] == hash && at(index - 1) == bytes) return {index - 1, false};
  }
}

// --- values as bytes -------------------------------------------------------------------------

namespace {

enum class Tag : char { kNull = 'n', kInteger = 'i', kReal = 'r', kText = 't', kBlob = 'b' };

template <typename T>
void append_bytes(std::string& out, T value) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof(T));
  out.append(bytes.data(), bytes.size());
}

template <typename T>
T read_bytes(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

/// Whether a double is a whole number that an integer of 64 bits is as well.
bool is_whole(double real) {
  constexpr double kLimit = 9223372036854775808.0;
  return real >= -kLimit && real < kLimit && std::trunc(real) == real;
}

/// Values that are equal in SQL become the same bytes: `1` and `1.0` are.
void append_value(std::string& out, sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      out += static_cast<char>(Tag::kInteger);
      append_bytes(out, sqlite3_value_int64(value));
      return;
    case SQLITE_FLOAT: {
      const double real = sqlite3_value_double(value);
      out += static_cast<char>(is_whole(real) ? Tag::kInteger : Tag::kReal);
      if (is_whole(real))
        append_bytes(out, static_cast<sqlite3_int64>(real));
      else
        append_bytes(out, real);
      return;
    }
    case SQLITE_TEXT:
    case SQLITE_BLOB: {
      const bool is_text = sqlite3_value_type(value) == SQLITE_TEXT;
      const auto size = static_cast<uint32_t>(sqlite3_value_bytes(value));
      out += static_cast<char>(is_text ? Tag::kText : Tag::kBlob);
      append_bytes(out, size);
      if (size > 0) out.append(static_cast<const char*>(sqlite3_value_blob(value)), size);
      return;
    }
    default:
      out += static_cast<char>(Tag::kNull);
      return;
  }
}

constexpr int rank_type(int type) {
  return type == SQLITE_NULL ? 0 : type == SQLITE_BLOB ? 3 : type == SQLITE_TEXT ? 2 : 1;
}

/// Compares as ORDER BY does.
int compare(sqlite3_value* a, sqlite3_value* b) {
  const int first = sqlite3_value_type(a);
  const int second = sqlite3_value_type(b);
  if (rank_type(first) != rank_type(second)) return rank_type(first) - rank_type(second);
  if (first == SQLITE_INTEGER && second == SQLITE_INTEGER) {
    const auto one = sqlite3_value_int64(a);
    const auto other = sqlite3_value_int64(b);
    return one < other ? -1 : one > other ? 1 : 0;
  }
  if (rank_type(first) == 1) {
    const double one = sqlite3_value_double(a);
    const double other = sqlite3_value_double(b);
    return one < other ? -1 : one > other ? 1 : 0;
  }
  const auto one = static_cast<size_t>(sqlite3_value_bytes(a));
  const auto other = static_cast<size_t>(sqlite3_value_bytes(b));
  return std::string_view(static_cast<const char*>(sqlite3_value_blob(a)), one)
      .compare(std::string_view(static_cast<const char*>(sqlite3_value_blob(b)), other));
}

}  // namespace

// --- groups ----------------------------------------------------------------------------------

namespace {

/// The aggregate that hands rows over.
constexpr const char* kFunction = "sluice_rows";

}  // namespace

Groups::Groups(Database& database, GroupForm form) : database_(database), form_(std::move(form)) {}

bool Groups::prepare() {
  const Statement plain = database_.prepare("SELECT " + form_.list + form_.rest);
  if (!plain) return false;
  for (size_t column = 0; column < form_.keys; ++column) {
    const char* const type = sqlite3_column_decltype(plain.get(), static_cast<int>(column));
    types_.emplace_back(type == nullptr ? "" : type);
  }
  sqlite3_create_function(
      database_.get(), kFunction, -1, SQLITE_UTF8, this, nullptr,
      [](sqlite3_context* context, int count, sqlite3_value** values) {
        auto& groups = *static_cast<Groups*>(sqlite3_user_data(context));
        if (!groups.add_row({values, static_cast<size_t>(count)}))
          sqlite3_result_error_nomem(context);
      },
      [](sqlite3_context* context) { sqlite3_result_null(context); });
  // An aggregate of all rows: SQLite hands them over without coming back for each.
  inner_ =
      database_.prepare(std::string("SELECT ") + kFunction + '(' + form_.list + ')' + form_.rest);
  return static_cast<bool>(inner_);
}

Groups::~Groups() {
  for (const Total& total : totals_) sqlite3_value_free(total.best);
}

size_t Groups::size() const {
  return form_.keys == 0 ? 1 : keys_.size();
}

/// Columns of keys have the types of the columns that they are.
std::string Groups::declare() const {
  std::string text = "CREATE TABLE x(";
  for (size_t column = 0; column < columns(); ++column) {
    if (column > 0) text += ',';
    const bool is_key = column < form_.keys;
    text += quote(is_key ? name_key(column) : name_aggregate(column - form_.keys), '"');
    if (is_key) text += ' ' + types_[column];
  }
  return text + ')';
}

size_t Groups::count_values() const {
  size_t count = 0;
  for (const HashIndex& seen : values_) count = std::max(count, seen.size());
  return count;
}

bool Groups::is_within() const {
  size_t memory = keys_.memory() + totals_.capacity() * sizeof(Total);
  for (const HashIndex& seen : values_) memory += seen.memory();
  return memory <= database_.limits().memory && size() <= database_.limits().groups;
}

bool Groups::add(Total& total, const Aggregate& aggregate, HashIndex& seen, sqlite3_value* value,
                 size_t group) {
  const int type = sqlite3_value_type(value);
  if (type == SQLITE_NULL) return true;
  if (aggregate.is_distinct) {
    key_.clear();
    if (form_.keys > 0) append_bytes(key_, static_cast<uint32_t>(group));
    append_value(key_, value);
    if (!seen.add(key_).is_new) return true;
  }
  ++total.count;
  if (aggregate.kind == Aggregate::Kind::kCount) return true;
  if (aggregate.kind == Aggregate::Kind::kMin || aggregate.kind == Aggregate::Kind::kMax) {
    if (total.best != nullptr) {
      const int order = compare(value, total.best);
      if (aggregate.kind == Aggregate::Kind::kMin ? order >= 0 : order <= 0) return true;
      sqlite3_value_free(total.best);
    }
    total.best = sqlite3_value_dup(value);
    return total.best != nullptr;
  }
  const bool is_integer = sqlite3_value_numeric_type(value) == SQLITE_INTEGER;
  const double real = sqlite3_value_double(value);
  if (is_integer && !total.has_overflow) {
    total.has_overflow =
        __builtin_add_overflow(total.integer, sqlite3_value_int64(value), &total.integer);
  }
  total.is_real = total.is_real || !is_integer;
  // Neumaier's sum, as SQLite's.
  const double sum = total.real + real;
  total.error += std::fabs(total.real) > std::fabs(real) ? (total.real - sum) + real
                                                         : (real - sum) + total.real;
  total.real = sum;
  return true;
}

bool Groups::add_row(std::span<sqlite3_value*> values) {
  const size_t each = form_.aggregates.size();
  size_t group = 0;
  if (form_.keys > 0) {
    key_.clear();
    for (size_t column = 0; column < form_.keys; ++column) append_value(key_, values[column]);
    const auto [index, is_new] = keys_.add(key_);
    group = index;
    if (is_new) totals_.resize(totals_.size() + each);
  }
  for (size_t index = 0; index < each; ++index) {
    Total& total = totals_[group * each + index];
    if (!add(total, form_.aggregates[index], values_[index], values[form_.keys + index], group))
      return false;
  }
  if ((rows_++ & 0x3FF) != 0 || is_within()) return true;
  database_.tables().groups = std::max(size(), count_values());
  database_.tables().failure = {Step::kTooMany, rows_, {}};
  return false;
}

int Groups::read() {
  if (is_read_) return SQLITE_OK;
  is_read_ = true;
  values_.resize(form_.aggregates.size());
  if (form_.keys == 0) totals_.resize(form_.aggregates.size());
  database_.tables().may_borrow = form_.is_plain;
  const int result = sqlite3_step(inner_.get());
  database_.tables().may_borrow = false;
  return result == SQLITE_ROW ? SQLITE_OK : result;
}

void Groups::give(size_t group, size_t column, sqlite3_context* context) const {
  if (column < form_.keys) {
    const char* at = keys_.at(group).data();
    for (size_t left = column;; --left) {
      const auto tag = static_cast<Tag>(*at++);
      const bool is_wanted = left == 0;
      switch (tag) {
        case Tag::kNull:
          break;
        case Tag::kInteger:
          if (is_wanted) sqlite3_result_int64(context, read_bytes<sqlite3_int64>(at));
          at += 8;
          break;
        case Tag::kReal:
          if (is_wanted) sqlite3_result_double(context, read_bytes<double>(at));
          at += 8;
          break;
        default: {
          const auto size = read_bytes<uint32_t>(at);
          at += 4;
          if (is_wanted && tag == Tag::kText)
            sqlite3_result_text(context, at, static_cast<int>(size), SQLITE_TRANSIENT);
          else if (is_wanted)
            sqlite3_result_blob(context, at, static_cast<int>(size), SQLITE_TRANSIENT);
          at += size;
        }
      }
      if (is_wanted) return;
    }
  }
  const size_t index = column - form_.keys;
  const Total& total = totals_[group * form_.aggregates.size() + index];
  const double sum = std::isfinite(total.error) ? total.real + total.error : total.real;
  switch (form_.aggregates[index].kind) {
    case Aggregate::Kind::kCount:
      sqlite3_result_int64(context, total.count);
      return;
    case Aggregate::Kind::kTotal:
      sqlite3_result_double(context, sum);
      return;
    case Aggregate::Kind::kAverage:
      if (total.count > 0) sqlite3_result_double(context, sum / static_cast<double>(total.count));
      return;
    case Aggregate::Kind::kSum:
      if (total.count == 0) return;
      if (total.is_real)
        sqlite3_result_double(context, sum);
      else if (total.has_overflow)
        sqlite3_result_error(context, "integer overflow", -1);
      else
        sqlite3_result_int64(context, total.integer);
      return;
    default:
      if (total.best != nullptr) sqlite3_result_value(context, total.best);
  }
}

// --- as a virtual table ----------------------------------------------------------------------

namespace {

struct GroupTable : sqlite3_vtab {
  Groups* groups = nullptr;
};

struct GroupCursor : sqlite3_vtab_cursor {
  size_t group = 0;
};

Groups& get_groups(sqlite3_vtab_cursor* cursor) {
  return *static_cast<GroupTable*>(cursor->pVtab)->groups;
}

int connect(sqlite3* database, void* context, int /*count*/, const char* const* /*arguments*/,
            sqlite3_vtab** made, char** /*error*/) {
  auto* groups = static_cast<Groups*>(context);
  const int result = sqlite3_declare_vtab(database, groups->declare().c_str());
  if (result != SQLITE_OK) return result;
  auto* table = new GroupTable();
  table->groups = groups;
  *made = table;
  return SQLITE_OK;
}

const sqlite3_module kGroupMethods = [] {
  sqlite3_module methods{};
  methods.xCreate = connect;
  methods.xConnect = connect;
  methods.xBestIndex = [](sqlite3_vtab* /*table*/, sqlite3_index_info* /*info*/) {
    return SQLITE_OK;
  };
  methods.xDisconnect = [](sqlite3_vtab* table) {
    delete static_cast<GroupTable*>(table);
    return SQLITE_OK;
  };
  methods.xDestroy = methods.xDisconnect;
  methods.xOpen = [](sqlite3_vtab* /*table*/, sqlite3_vtab_cursor** made) {
    *made = new GroupCursor();
    return SQLITE_OK;
  };
  methods.xClose = [](sqlite3_vtab_cursor* cursor) {
    delete static_cast<GroupCursor*>(cursor);
    return SQLITE_OK;
  };
  methods.xFilter = [](sqlite3_vtab_cursor* cursor, int /*plan*/, const char* /*text*/,
                       int /*count*/, sqlite3_value** /*values*/) {
    static_cast<GroupCursor*>(cursor)->group = 0;
    return get_groups(cursor).read();
  };
  methods.xNext = [](sqlite3_vtab_cursor* cursor) {
    ++static_cast<GroupCursor*>(cursor)->group;
    return SQLITE_OK;
  };
  methods.xEof = [](sqlite3_vtab_cursor* cursor) {
    return static_cast<GroupCursor*>(cursor)->group >= get_groups(cursor).size() ? 1 : 0;
  };
  methods.xColumn = [](sqlite3_vtab_cursor* cursor, sqlite3_context* context, int column) {
    get_groups(cursor).give(static_cast<GroupCursor*>(cursor)->group, static_cast<size_t>(column),
                            context);
    return SQLITE_OK;
  };
  methods.xRowid = [](sqlite3_vtab_cursor* cursor, sqlite3_int64* number) {
    *number = static_cast<sqlite3_int64>(static_cast<GroupCursor*>(cursor)->group);
    return SQLITE_OK;
  };
  return methods;
}();

constexpr const char* kGroupModule = "sluice_groups";

}  // namespace

std::optional<GroupQuery> prepare_groups(Database& database, std::string_view sql) {
  const auto is_column = [&](std::string_view name) {
    for (const Tables::Named& named : database.tables().named) {
      for (const Column& column : named.table->columns()) {
        if (lowered(column.name) == lowered(name)) return true;
      }
    }
    return false;
  };
  auto form = read_group_form(sql, is_column);
  if (!form) return std::nullopt;
  const QueryFailure before = database.failure();
  const std::string outer = form->outer;
  GroupQuery query;
  query.groups = std::make_unique<Groups>(database, std::move(*form));
  if (query.groups->prepare()) {
    sqlite3_create_module(database.get(), kGroupModule, &kGroupMethods, query.groups.get());
    const bool is_made = database.run(std::string("CREATE VIRTUAL TABLE ") +
                                      quote(kGroupTable, '"') + " USING " + kGroupModule);
    if (is_made) query.statement = database.prepare(outer);
    if (query.statement) return query;
    if (is_made) database.run(std::string("DROP TABLE ") + quote(kGroupTable, '"'));
  }
  // It has another form: SQLite answers it as it is, and says what is wrong with it.
  database.failure() = before;
  return std::nullopt;
}

}  // namespace sluice::tables
