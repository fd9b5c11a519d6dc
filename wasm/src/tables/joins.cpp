#include "tables/joins.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tables/program.h"
#include "text/ascii.h"

namespace sluice::tables {

namespace {

bool is_loop(const Instruction& instruction, size_t at) {
  const bool goes_back = instruction.p2 > 1 && static_cast<size_t>(instruction.p2) <= at;
  return goes_back && (instruction.name == "Goto" || instruction.name.ends_with("Next") ||
                       instruction.name == "Prev");
}

/// Whether the instruction at `at` runs again and again: it is inside the loop of another cursor,
/// or in a part that is called, and not behind what runs once.
bool runs_again(const std::vector<Instruction>& program, size_t at) {
  const auto is_inside = [&](size_t from, size_t to) {
    if (at < from || at > to) return false;
    for (size_t before = from; before < at; ++before) {
      if (program[before].name == "Once" && static_cast<size_t>(program[before].p2) > at)
        return false;
    }
    return true;
  };
  for (size_t end = 0; end < program.size(); ++end) {
    const Instruction& instruction = program[end];
    const auto target = static_cast<size_t>(std::max(instruction.p2, 0));
    const bool is_own = instruction.name == "VNext" && instruction.p1 == program[at].p1;
    if (is_loop(instruction, end) && !is_own && is_inside(target, end)) return true;
    if (instruction.name != "Gosub" || target >= program.size()) continue;
    size_t last = target;
    while (last + 1 < program.size() &&
           (program[last].name != "Return" || program[last].p1 != instruction.p1))
      ++last;
    if (is_inside(target, last)) return true;
  }
  return false;
}

/// The table that a cursor of a program reads, or nothing.
Tables::Named* find_table(Tables& tables, const std::vector<Instruction>& program, int cursor) {
  for (const Instruction& instruction : program) {
    if (instruction.name != "VOpen" || instruction.p1 != cursor) continue;
    for (Tables::Named& named : tables.named) {
      if (instruction.p4 == named.address) return &named;
    }
  }
  return nullptr;
}

/// Whether tables are joined by columns that they have in common, which SQLite does not tell as
/// columns that are read.
bool joins_by_names(std::string_view sql) {
  const std::string text = lowered(sql);
  return text.find("using") != std::string::npos || text.find("natural") != std::string::npos;
}

bool keep(Database& database, Tables::Named& named, bool keeps_all) {
  std::string columns;
  for (const Column& column : named.table->columns()) {
    if (!keeps_all && !named.read.contains(column.name)) continue;
    columns += (columns.empty() ? "" : ", ") + quote(column.name, '"');
  }
  if (columns.empty()) columns = quote(named.table->columns().front().name, '"');
  const std::string name = quote(named.name, '"');
  // A temporary table is found before one of the same name.
  return database.run("CREATE TEMP TABLE " + name + " AS SELECT " + columns + " FROM main." + name);
}

}  // namespace

bool keep_inner_tables(Database& database, std::string_view sql, Statement& statement) {
  std::vector<Tables::Named*> kept;
  // Which table is the inner one may change when one is kept.
  for (;;) {
    const std::vector<Instruction> program = list_instructions(database.get(), sql);
    Tables::Named* inner = nullptr;
    for (size_t at = 0; at < program.size() && inner == nullptr; ++at) {
      if (program[at].name != "VFilter" || !runs_again(program, at)) continue;
      inner = find_table(database.tables(), program, program[at].p1);
    }
    if (inner == nullptr || std::find(kept.begin(), kept.end(), inner) != kept.end()) return true;
    statement = Statement();
    if (!keep(database, *inner, joins_by_names(sql))) return false;
    kept.push_back(inner);
    statement = database.prepare(sql);
    if (!statement) return false;
  }
}

}  // namespace sluice::tables
