// What a value must be, as members of a JSON Schema (draft 2020-12), by the type of the member it
// belongs to. Only the documentation needs it.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "config/value.h"
#include "sluice/config.h"

namespace sluice::config {

/// Appends `"key":` and a comma before it where one is due.
void append_member(std::string& out, std::string_view key);
/// The same with a value.
void append_member(std::string& out, std::string_view key, std::string_view text);
void append_member(std::string& out, std::string_view key, uint64_t number);

/// `"type":"integer","minimum":256,"maximum":10000000`
void append_integer_shape(const Limits& limits, std::string& out);

void append_shape(std::type_identity<bool>, const Limits& limits, std::string& out);
void append_shape(std::type_identity<std::string>, const Limits& limits, std::string& out);
void append_shape(std::type_identity<Prefer>, const Limits& limits, std::string& out);
void append_shape(std::type_identity<InlineMedia::Mode>, const Limits& limits, std::string& out);
void append_shape(std::type_identity<std::vector<std::string>>, const Limits& limits,
                  std::string& out);
void append_shape(std::type_identity<std::vector<Signature>>, const Limits& limits,
                  std::string& out);
void append_shape(std::type_identity<decltype(Config::tool_fields)>, const Limits& limits,
                  std::string& out);

template <std::unsigned_integral Number>
void append_shape(std::type_identity<Number>, const Limits& limits, std::string& out) {
  append_integer_shape(limits, out);
}

}  // namespace sluice::config
