// The program that SQLite makes of a statement.
#pragma once

#include <string>
#include <string_view>
#include <vector>

struct sqlite3;

namespace sluice::tables {

/// An instruction of SQLite's machine. What its operands mean is the business of each.
struct Instruction {
  std::string name;
  int p1 = 0;
  int p2 = 0;
  int p3 = 0;
  std::string p4;
  int p5 = 0;
};

/// None for a statement that cannot be prepared.
std::vector<Instruction> list_instructions(sqlite3* database, std::string_view sql);

}  // namespace sluice::tables
