#include "tables/value.h"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "tables/number.h"

namespace sluice::tables {

namespace {

using Kind = Value::Kind;

template <typename T>
T take_bytes(const char*& at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  at += sizeof(T);
  return value;
}

/// Whether a double is a whole number that an integer of 64 bits is as well.
bool is_whole(double real) {
  constexpr double kLimit = 9223372036854775808.0;
  return real >= -kLimit && real < kLimit && std::trunc(real) == real;
}

/// Copies texts that are mostly short, for which a call takes longer.
void copy_short(char* out, std::string_view text) {
  const char* from = text.data();
  size_t left = text.size();
  for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t)) {
    std::memcpy(out, from, sizeof(uint64_t));
    out += sizeof(uint64_t);
    from += sizeof(uint64_t);
  }
  while (left-- > 0) *out++ = *from++;
}

int rank_kind(Kind kind) {
  return kind == Kind::kReal ? static_cast<int>(Kind::kInteger) : static_cast<int>(kind);
}

template <typename T>
int compare_numbers(T a, T b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

/// Exactly, though a double does not hold each integer.
int compare_numbers(int64_t integer, double real) {
  constexpr double kLimit = 9223372036854775808.0;
  if (real < -kLimit) return 1;
  if (real >= kLimit) return -1;
  const double whole = std::trunc(real);
  const int order = compare_numbers(integer, static_cast<int64_t>(whole));
  return order != 0 ? order : compare_numbers(whole, real);
}

}  // namespace

Value KeptValue::get() const {
  Value result = value;
  result.bytes = bytes;
  return result;
}

KeptValue keep_value(const Value& value) {
  return {value, std::string(value.bytes)};
}

Value read_value(sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      return {Kind::kInteger, sqlite3_value_int64(value), 0, {}};
    case SQLITE_FLOAT:
      return {Kind::kReal, 0, sqlite3_value_double(value), {}};
    case SQLITE_NULL:
      return {};
    default: {
      const bool is_text = sqlite3_value_type(value) == SQLITE_TEXT;
      const auto size = static_cast<size_t>(sqlite3_value_bytes(value));
      const auto* bytes = static_cast<const char*>(sqlite3_value_blob(value));
      return {is_text ? Kind::kText : Kind::kBlob, 0, 0, {bytes, size}};
    }
  }
}

Value read_value(const Cell& cell, Type type) {
  switch (cell.kind) {
    case Cell::Kind::kInteger:
      // `80` among `12.5` is divided as they are.
      if (type == Type::kReal && is_exact(cell.integer))
        return {Kind::kReal, 0, static_cast<double>(cell.integer), {}};
      return {Kind::kInteger, cell.integer, 0, {}};
    case Cell::Kind::kReal:
      return {Kind::kReal, 0, cell.real, {}};
    case Cell::Kind::kText:
      return {Kind::kText, 0, 0, cell.text};
    default:
      return {};
  }
}

void give_value(sqlite3_context* context, const Value& value, bool may_borrow) {
  const auto size = static_cast<int>(value.bytes.size());
  const auto life = may_borrow ? SQLITE_STATIC : SQLITE_TRANSIENT;
  switch (value.kind) {
    case Kind::kNull:
      return;
    case Kind::kInteger:
      sqlite3_result_int64(context, value.integer);
      return;
    case Kind::kReal:
      sqlite3_result_double(context, value.real);
      return;
    case Kind::kText:
      sqlite3_result_text(context, value.bytes.data(), size, life);
      return;
    case Kind::kBlob:
      sqlite3_result_blob(context, value.bytes.data(), size, life);
  }
}

char* Key::extend(size_t size) {
  const size_t end = size_ + size;
  if (end > capacity_) {
    constexpr size_t kLeast = 64;
    capacity_ = std::max(kLeast, end * 2);
    auto larger = std::make_unique<char[]>(capacity_);
    if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
    bytes_ = std::move(larger);
  }
  char* const place = bytes_.get() + size_;
  size_ = end;
  return place;
}

void Key::append(const Value& value) {
  if (value.has_bytes()) {
    const auto size = static_cast<uint32_t>(value.bytes.size());
    char* const place = extend(1 + sizeof size + size);
    *place = static_cast<char>(value.kind);
    std::memcpy(place + 1, &size, sizeof size);
    copy_short(place + 1 + sizeof size, value.bytes);
    return;
  }
  if (value.kind == Kind::kNull) {
    *extend(1) = static_cast<char>(value.kind);
    return;
  }
  const bool is_integer = value.kind == Kind::kInteger || is_whole(value.real);
  char* const place = extend(1 + sizeof value.integer);
  *place = static_cast<char>(is_integer ? Kind::kInteger : Kind::kReal);
  const int64_t integer = value.kind == Kind::kInteger || !is_integer
                              ? value.integer
                              : static_cast<int64_t>(value.real);
  if (is_integer)
    std::memcpy(place + 1, &integer, sizeof integer);
  else
    std::memcpy(place + 1, &value.real, sizeof value.real);
}

Value take_value(const char*& at) {
  Value value;
  value.kind = static_cast<Kind>(*at++);
  if (value.kind == Kind::kInteger) value.integer = take_bytes<int64_t>(at);
  if (value.kind == Kind::kReal) value.real = take_bytes<double>(at);
  if (!value.has_bytes()) return value;
  const auto size = take_bytes<uint32_t>(at);
  value.bytes = {at, size};
  at += size;
  return value;
}

int compare(const Value& a, const Value& b) {
  if (rank_kind(a.kind) != rank_kind(b.kind)) return rank_kind(a.kind) - rank_kind(b.kind);
  if (a.has_bytes()) return a.bytes.compare(b.bytes);
  if (a.kind == Kind::kNull) return 0;
  if (a.kind == b.kind) {
    return a.kind == Kind::kInteger ? compare_numbers(a.integer, b.integer)
                                    : compare_numbers(a.real, b.real);
  }
  return a.kind == Kind::kInteger ? compare_numbers(a.integer, b.real)
                                  : -compare_numbers(b.integer, a.real);
}

}  // namespace sluice::tables
