// Reading and showing values, by the type of the member they belong to.
#pragma once

#include <concepts>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "config/row.h"

namespace sluice::config {

/// A value at `path` that is not `expected`: `max_inline_size must be an integer from 256 to …`.
Status wrong_value(const std::string& path, std::string_view expected);

/// The path of `key` in what stands at `path` (empty at the top).
std::string path_below(std::string_view path, std::string_view key);

/// Checks that a value is an integer within the row's bounds.
Status check_integer(const Row& row, const Json& value, const std::string& path, uint64_t& number);

Status read_value(const Row& row, const Json& value, const std::string& path, bool& target);
Status read_value(const Row& row, const Json& value, const std::string& path, std::string& target);
Status read_value(const Row& row, const Json& value, const std::string& path, Prefer& target);
Status read_value(const Row& row, const Json& value, const std::string& path,
                  InlineMedia::Mode& target);
Status read_value(const Row& row, const Json& value, const std::string& path,
                  std::vector<std::string>& target);
Status read_value(const Row& row, const Json& value, const std::string& path,
                  std::vector<Signature>& target);
Status read_value(const Row& row, const Json& value, const std::string& path,
                  decltype(Config::tool_fields)& target);

template <std::unsigned_integral Number>
Status read_value(const Row& row, const Json& value, const std::string& path, Number& target) {
  uint64_t number = 0;
  Status status = check_integer(row, value, path, number);
  if (status.ok()) target = static_cast<Number>(number);
  return status;
}

Json show_value(bool value);
Json show_value(uint64_t value);
Json show_value(const std::string& value);
Json show_value(Prefer value);
Json show_value(InlineMedia::Mode value);
Json show_value(const std::vector<std::string>& value);
Json show_value(const std::vector<Signature>& value);
Json show_value(const decltype(Config::tool_fields)& value);

}  // namespace sluice::config
