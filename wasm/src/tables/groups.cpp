#include "tables/groups.h"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>

#include "tables/program.h"
#include "tables/value.h"
#include "text/ascii.h"

namespace sluice::tables {

// --- groups ----------------------------------------------------------------------------------

namespace {

/// The aggregate that hands rows over.
constexpr const char* kFunction = "sluice_rows";

/// Where the arguments of `kFunction` come from, if SQLite does nothing with a row of one table but
/// hand these over: conditions apart, which the program does not look at. Nothing otherwise.
std::vector<Groups::Source> find_sources(const std::vector<Instruction>& program) {
  const auto find = [&](std::string_view name) {
    return std::find_if(program.begin(), program.end(),
                        [&](const Instruction& each) { return each.name == name; });
  };
  const auto count = std::count_if(program.begin(), program.end(), [](const Instruction& each) {
    return each.name.ends_with("Open") || each.name.starts_with("Open");
  });
  const auto first = find("VFilter");
  const auto last = find("VNext");
  if (count != 1 || first >= last || last == program.end()) return {};
  std::unordered_map<int, Groups::Source> registers;
  for (const Instruction& each : program) {
    if (each.name == "Integer") registers[each.p2] = {std::nullopt, each.p1};
  }
  for (auto each = first + 1; each != last; ++each) {
    if (each->name == "VColumn") {
      registers[each->p3] = {static_cast<size_t>(each->p2), 0};
    } else if (each->name == "SCopy" && registers.contains(each->p1)) {
      registers[each->p2] = registers[each->p1];
    } else if (each->name == "AggStep" && each->p4.starts_with(kFunction) && each + 1 == last) {
      std::vector<Groups::Source> sources;
      for (int place = each->p2; place < each->p2 + each->p5; ++place) {
        const auto source = registers.find(place);
        if (source == registers.end()) return {};
        sources.push_back(source->second);
      }
      return sources;
    } else {
      return {};
    }
  }
  return {};
}

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
  const std::string inner =
      std::string("SELECT ") + kFunction + '(' + form_.list + ')' + form_.rest;
  database_.tables().omits_conditions = true;
  sources_ = find_sources(list_instructions(database_.get(), inner));
  database_.tables().omits_conditions = false;
  inner_ = database_.prepare(inner);
  return static_cast<bool>(inner_);
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
  return memory + kept_ <= database_.limits().memory && size() <= database_.limits().groups;
}

bool Groups::is_new(const Aggregate& aggregate, HashIndex& seen, const Value& value, size_t group) {
  if (!aggregate.is_distinct) return true;
  key_.clear();
  if (form_.keys > 0) key_.append({Value::Kind::kInteger, static_cast<int64_t>(group), 0, {}});
  key_.append(value);
  return seen.add(key_.get()).is_new;
}

void Groups::add_best(Total& total, Aggregate::Kind kind, const Value& value) {
  if (total.best != nullptr) {
    const int order = compare(value, total.best->get());
    if (kind == Aggregate::Kind::kMin ? order >= 0 : order <= 0) return;
    kept_ -= total.best->bytes.capacity();
  }
  total.best = std::make_unique<KeptValue>(keep_value(value));
  kept_ += total.best->bytes.capacity();
}

void Groups::add_number(Total& total, const Value& value) {
  const bool is_integer = value.kind == Value::Kind::kInteger;
  const double real = is_integer ? static_cast<double>(value.integer) : value.real;
  if (is_integer && !total.has_overflow) {
    total.has_overflow = __builtin_add_overflow(total.integer, value.integer, &total.integer);
  }
  total.is_real = total.is_real || !is_integer;
  // Neumaier's sum, as SQLite's.
  const double sum = total.real + real;
  total.error += std::fabs(total.real) > std::fabs(real) ? (total.real - sum) + real
                                                         : (real - sum) + total.real;
  total.real = sum;
}

void Groups::add(size_t group, size_t index, const Value& value, const Value& number) {
  const Aggregate& aggregate = form_.aggregates[index];
  if (value.kind == Value::Kind::kNull || !is_new(aggregate, values_[index], value, group)) return;
  Total& total = totals_[group * form_.aggregates.size() + index];
  ++total.count;
  if (aggregate.has_best()) add_best(total, aggregate.kind, value);
  if (aggregate.has_sum()) add_number(total, number);
}

size_t Groups::find_group() {
  if (form_.keys == 0) return 0;
  const auto [group, is_new] = keys_.add(key_.get());
  if (is_new) totals_.resize(totals_.size() + form_.aggregates.size());
  return group;
}

bool Groups::has_room() {
  if ((rows_++ & 0x3FF) != 0 || is_within()) return true;
  database_.tables().groups = std::max(size(), count_values());
  database_.tables().failure = {Step::kTooMany, rows_, {}};
  return false;
}

bool Groups::add_row(std::span<sqlite3_value*> values) {
  key_.clear();
  for (size_t column = 0; column < form_.keys; ++column) key_.append(read_value(values[column]));
  const size_t group = find_group();
  for (size_t index = 0; index < form_.aggregates.size(); ++index) {
    sqlite3_value* const value = values[form_.keys + index];
    const Value read = read_value(value);
    Value number = read;
    if (read.has_bytes() && form_.aggregates[index].has_sum()) {
      // A sum takes the number with which a text begins.
      number = sqlite3_value_numeric_type(value) == SQLITE_INTEGER
                   ? Value{Value::Kind::kInteger, sqlite3_value_int64(value), 0, {}}
                   : Value{Value::Kind::kReal, 0, sqlite3_value_double(value), {}};
    }
    add(group, index, read, number);
  }
  return has_room();
}

RowSink::Taken Groups::take_row(Rows& rows, std::span<const Type> types) {
  const size_t each = form_.aggregates.size();
  for (size_t index = 0; index < sources_.size(); ++index) {
    const Source& source = sources_[index];
    if (source.column) row_[index] = read_value(rows.cell(*source.column), types[*source.column]);
    // What a text is as a number is for SQLite to tell.
    if (row_[index].has_bytes() && index >= form_.keys &&
        form_.aggregates[index - form_.keys].has_sum())
      return Taken::kNo;
  }
  key_.clear();
  for (size_t column = 0; column < form_.keys; ++column) key_.append(row_[column]);
  const size_t group = find_group();
  for (size_t index = 0; index < each; ++index) {
    const Value& value = row_[form_.keys + index];
    add(group, index, value, value);
  }
  return has_room() ? Taken::kYes : Taken::kFull;
}

int Groups::read() {
  if (is_read_) return SQLITE_OK;
  is_read_ = true;
  values_.resize(form_.aggregates.size());
  if (form_.keys == 0) totals_.resize(form_.aggregates.size());
  for (const Source& source : sources_)
    row_.push_back({Value::Kind::kInteger, source.constant, 0, {}});
  Tables& tables = database_.tables();
  tables.may_borrow = form_.is_plain;
  tables.sink = sources_.empty() ? nullptr : this;
  const int result = sqlite3_step(inner_.get());
  tables.sink = nullptr;
  tables.may_borrow = false;
  return result == SQLITE_ROW ? SQLITE_OK : result;
}

void Groups::give(size_t group, size_t column, sqlite3_context* context) const {
  if (column < form_.keys) {
    const char* at = keys_.at(group).data();
    Value value = take_value(at);
    for (size_t before = 0; before < column; ++before) value = take_value(at);
    give_value(context, value, false);
    return;
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
      if (total.best != nullptr) give_value(context, total.best->get(), false);
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
