// Reading and showing values, by the type of the member they belong to.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/config.h"
#include "sluice/tape.h"

namespace sluice::config {

/// A value of the configuration's text: a node of its tape.
struct Value {
  const Tape* tape;
  size_t node;

  bool is(Type type) const { return (*tape)[node].type == type; }
  bool is(std::string_view text) const { return tape->is_string(node, text); }
  /// What a string says; nothing for any other type.
  std::optional<std::string> text() const;
};

/// A member of an object.
struct Member {
  std::string key;
  Value value;
};

/// The members of an object: of duplicates the last one's value, in the place of the first. No more
/// than `most` + 1, which is enough to refuse an object with too many; none of any other type.
std::vector<Member> members(const Value& object, size_t most);

/// The elements of an array, no more than `most` + 1; none of any other type.
std::vector<Value> elements(const Value& array, size_t most);

/// What bounds a value: Row::least and Row::most, and whether null stands for an empty string.
struct Limits {
  uint32_t least;
  uint32_t most;
  bool nullable;
};

/// A value at `path` that is not `expected`: `max_inline_size must be an integer from 256 to …`.
Status wrong_value(const std::string& path, std::string_view expected);

/// The path of `key` in what stands at `path` (empty at the top).
std::string path_below(std::string_view path, std::string_view key);

/// `1 to 20`
std::string range(uint64_t least, uint64_t most);

/// Checks that a value is an integer within limits.
Status check_integer(const Limits& limits, const Value& value, const std::string& path,
                     uint32_t& number);

Status read_value(const Limits& limits, const Value& value, const std::string& path, bool& target);
Status read_value(const Limits& limits, const Value& value, const std::string& path,
                  std::string& target);
Status read_value(const Limits& limits, const Value& value, const std::string& path,
                  Prefer& target);
Status read_value(const Limits& limits, const Value& value, const std::string& path,
                  InlineMedia::Mode& target);
Status read_value(const Limits& limits, const Value& value, const std::string& path,
                  std::vector<std::string>& target);
Status read_value(const Limits& limits, const Value& value, const std::string& path,
                  std::vector<Signature>& target);
Status read_value(const Limits& limits, const Value& value, const std::string& path,
                  decltype(Config::tool_fields)& target);

template <std::unsigned_integral Number>
Status read_value(const Limits& limits, const Value& value, const std::string& path,
                  Number& target) {
  uint32_t number = 0;
  Status status = check_integer(limits, value, path, number);
  if (status.ok()) target = number;
  return status;
}

}  // namespace sluice::config
