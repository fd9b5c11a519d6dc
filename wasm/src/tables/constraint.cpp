#include "tables/constraint.h"

#include <sqlite3.h>

#include <algorithm>

#include "tables/number.h"
#include "text/ascii.h"
#include "text/block.h"

namespace sluice::tables {

namespace {

/// The longest part of a pattern of LIKE that stands for itself, in lower case. Letters that are
/// not ASCII are left out, since SQLite knows no case in those either, but texts may be damaged.
std::string find_literal(std::string_view pattern) {
  std::string_view longest;
  for (size_t at = 0; at < pattern.size();) {
    const size_t end = std::min(pattern.find_first_of("%_", at), pattern.size());
    if (end - at > longest.size()) longest = pattern.substr(at, end - at);
    at = end + 1;
  }
  return lowered(longest);
}

/// Whether a text holds another, of lower case, in any case.
bool contains_folded(std::string_view text, std::string_view sought) {
  if (sought.size() > text.size()) return false;
  const auto low = static_cast<uint8_t>(sought[0]);
  const auto high = static_cast<uint8_t>(low >= 'a' && low <= 'z' ? low - 0x20 : low);
  const char* const last = text.data() + text.size() - sought.size() + 1;
  const auto is_first = [low, high](auto some) { return some.is(low) | some.is(high); };
  for (const char* at = text.data();; ++at) {
    at = find_first(at, last, is_first);
    if (at == last) return false;
    size_t same = 1;
    while (same < sought.size() && to_lower(at[same]) == sought[same]) ++same;
    if (same == sought.size()) return true;
  }
}

template <typename T>
int compare(T a, T b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

}  // namespace

bool Constraint::is_known(int op) {
  switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE:
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE:
    case SQLITE_INDEX_CONSTRAINT_NE:
    case SQLITE_INDEX_CONSTRAINT_LIKE:
    case SQLITE_INDEX_CONSTRAINT_ISNOTNULL:
      return true;
    default:
      return false;
  }
}

std::optional<Constraint> Constraint::make(int op, size_t column, Type type, sqlite3_value* value) {
  Constraint constraint;
  constraint.op_ = op;
  constraint.column_ = column;
  if (op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL) return constraint;
  const int kind = sqlite3_value_type(value);
  if (op == SQLITE_INDEX_CONSTRAINT_LIKE) {
    // Numbers may be written otherwise than SQLite writes them.
    if (kind != SQLITE_TEXT || type != Type::kText) return std::nullopt;
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
    constraint.text_ = find_literal({text, static_cast<size_t>(sqlite3_value_bytes(value))});
    if (constraint.text_.empty()) return std::nullopt;
    return constraint;
  }
  if (type == Type::kAny) return std::nullopt;
  if (type == Type::kText) {
    // Numbers are compared with it as texts, which SQLite makes of them.
    if (kind != SQLITE_TEXT) return std::nullopt;
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
    constraint.text_.assign(text, static_cast<size_t>(sqlite3_value_bytes(value)));
    constraint.kind_ = Cell::Kind::kText;
    return constraint;
  }
  if (kind == SQLITE_INTEGER) {
    constraint.integer_ = sqlite3_value_int64(value);
    constraint.is_exact_ = is_exact(constraint.integer_);
    constraint.kind_ = Cell::Kind::kInteger;
  } else if (kind == SQLITE_FLOAT) {
    constraint.kind_ = Cell::Kind::kReal;
  } else {
    return std::nullopt;
  }
  constraint.real_ = sqlite3_value_double(value);
  return constraint;
}

bool Constraint::allows_order(int order) const {
  switch (op_) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
      return order == 0;
    case SQLITE_INDEX_CONSTRAINT_GT:
      return order > 0;
    case SQLITE_INDEX_CONSTRAINT_GE:
      return order >= 0;
    case SQLITE_INDEX_CONSTRAINT_LT:
      return order < 0;
    case SQLITE_INDEX_CONSTRAINT_LE:
      return order <= 0;
    default:
      return order != 0;
  }
}

bool Constraint::allows_text(std::string_view text) const {
  if (op_ == SQLITE_INDEX_CONSTRAINT_EQ) return text == text_;
  return allows_order(text.compare(text_));
}

Verdict Constraint::judge(Rows& rows) const {
  const auto decide = [](bool is_met) { return is_met ? Verdict::kYes : Verdict::kNo; };
  const Cell cell = rows.cell(column_);
  if (cell.kind == Cell::Kind::kNull) return Verdict::kNo;
  if (op_ == SQLITE_INDEX_CONSTRAINT_ISNOTNULL) return Verdict::kYes;
  const bool is_text = cell.kind == Cell::Kind::kText;
  if (op_ == SQLITE_INDEX_CONSTRAINT_LIKE) {
    return is_text && !contains_folded(cell.text, text_) ? Verdict::kNo : Verdict::kUnsure;
  }
  // SQLite compares a text with a number by what both can be made of.
  if (is_text != (kind_ == Cell::Kind::kText)) return Verdict::kUnsure;
  if (is_text) return decide(allows_text(cell.text));
  if (cell.kind == Cell::Kind::kInteger && kind_ == Cell::Kind::kInteger) {
    return decide(allows_order(compare(cell.integer, integer_)));
  }
  const double number =
      cell.kind == Cell::Kind::kReal ? cell.real : static_cast<double>(cell.integer);
  const int order = compare(number, real_);
  // Integers that a double does not hold may seem equal.
  const bool is_same = cell.kind == Cell::Kind::kReal || is_exact(cell.integer);
  if (order == 0 && !(is_same && is_exact_)) return Verdict::kUnsure;
  return decide(allows_order(order));
}

}  // namespace sluice::tables
