// What the reader and the documentation know about one key of the configuration. The keys are in
// keys.cpp.
#pragma once

// In the module an assertion would only bring its words.
#ifdef __EMSCRIPTEN__
#define JSON_ASSERT(condition) static_cast<void>(0)
#endif

#include <array>
#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sluice/config.h"
#include "sluice/tape.h"

namespace sluice {

/// The configuration as values, which nlohmann_json reads and writes; what is in the stream stays
/// source text on a tape. Members keep their order; of duplicates the last value stands in the
/// place of the first.
using Json = nlohmann::ordered_json;

/// Maximum members of an object: each key is compared with those before it.
inline constexpr size_t kMaxMembers = 2'000;

/// Reads a text that a tape has accepted, so it is JSON of bounded depth. Discarded
/// (`is_discarded`) if something in it has no value (a number that is not finite as a double, an
/// escaped lone surrogate) or if an object has more than `kMaxMembers`.
Json read_json(const Tape& tape);

/// `value` as JSON text without white space. Invalid UTF-8 becomes U+FFFD.
std::string write_json(const Json& value);

namespace config {

// --- bounds ----------------------------------------------------------------------------------

/// What bounds a value: Row::least and Row::most, and whether null stands for an empty string.
struct Limits {
  uint32_t least;
  uint32_t most;
  bool nullable;
};

/// Characters of the type, and of the subtype, of a MIME type (RFC 6838 §4.2).
inline constexpr size_t kMaxMimeToken = 127;

/// Characters of a signature: the first ones of the base64 encoding.
inline constexpr size_t kMinPrefix = 4;
inline constexpr size_t kMaxPrefix = 64;

/// Characters of a file name's extension.
inline constexpr size_t kMaxExtension = 16;

/// Most characters of a tool's name.
inline constexpr size_t kMaxToolName = 200;

/// Most fields of one tool.
inline constexpr size_t kMaxToolFields = 100;

// --- the table -------------------------------------------------------------------------------

/// A key. `least` and `most` bound an integer, the characters of a string, or the entries of a list
/// or map; both 0 when there is nothing to bound.
struct Row {
  std::string_view key;   ///< whole path, e.g. `guardrail.max_field_chars`
  std::string_view type;  ///< as the documentation names it
  uint64_t least;
  uint64_t most;
  /// Checks a value and puts it into the configuration.
  Status (*read)(const Limits& limits, const Json& value, const std::string& path, Config& config);
  /// The value that a configuration has.
  Json (*show)(const Config& config);
  /// What a value must be, as a JSON Schema.
  Json (*schema)(const Limits& limits);
  std::string_view description;

  constexpr Limits limits() const {
    return {static_cast<uint32_t>(least), static_cast<uint32_t>(most), type.ends_with("null")};
  }
};

/// Every key, in the order of the documentation.
std::span<const Row> config_rows();

/// The keys that may stand directly under `prefix` (empty at the top), each once.
std::vector<std::string_view> keys_below(std::string_view prefix);

/// What the reader needs of a row; what else a row holds stays out of a build that shows no
/// documentation.
struct ReadRow {
  std::string_view key;
  Limits limits;
  decltype(Row::read) read;
};

/// Every key, in the order of config_rows().
std::span<const ReadRow> read_rows();

/// One member of a `tool_fields` entry. It is required when `least` is not 0;
/// otherwise null is as good as leaving it out. `least` and `most` bound its characters.
struct ToolFieldRow {
  std::string_view key;
  size_t least;
  size_t most;
  std::string ToolField::*member;
  std::string_view expected;
};

inline constexpr std::array<ToolFieldRow, 4> kToolFieldRows = {{
    {"field_path", 1, 500, &ToolField::field_path,
     "a dot path of 1 to 500 characters such as result.pages.0.image or items.*.data"},
    {"content_type", 1, 100, &ToolField::content_type,
     "a string of 1 to 100 characters such as pdf"},
    {"mime_type", 0, 255, &ToolField::mime_type, "null or a MIME type such as application/pdf"},
    {"summary_template", 0, 2'000, &ToolField::summary_template,
     "null or a string of at most 2,000 characters"},
}};

// --- paths and what is wrong at them ---------------------------------------------------------

/// The path of `key` in what stands at `path` (empty at the top).
std::string path_below(std::string_view path, std::string_view key);

/// A value at `path` that is not `expected`: `max_inline_size must be an integer from 256 to …`.
Status wrong_value(const std::string& path, std::string_view expected);

/// The failure for `key` under `prefix` (empty at the top) where only `known` keys may stand.
/// Suggests the nearest of them, or names them all when none is near.
Status unknown_key(const std::string& prefix, std::string_view key,
                   std::span<const std::string_view> known);

// --- values, by the type of the member they belong to ----------------------------------------

/// Checks that a value is an integer within limits.
Status check_integer(const Limits& limits, const Json& value, const std::string& path,
                     uint32_t& number);

Status read_value(const Limits& limits, const Json& value, const std::string& path, bool& target);
Status read_value(const Limits& limits, const Json& value, const std::string& path,
                  std::string& target);
Status read_value(const Limits& limits, const Json& value, const std::string& path, Prefer& target);
Status read_value(const Limits& limits, const Json& value, const std::string& path,
                  InlineMedia::Mode& target);
Status read_value(const Limits& limits, const Json& value, const std::string& path,
                  std::vector<std::string>& target);
Status read_value(const Limits& limits, const Json& value, const std::string& path,
                  std::vector<Signature>& target);
Status read_value(const Limits& limits, const Json& value, const std::string& path,
                  decltype(Config::tool_fields)& target);

template <std::unsigned_integral Number>
Status read_value(const Limits& limits, const Json& value, const std::string& path,
                  Number& target) {
  uint32_t number = 0;
  Status status = check_integer(limits, value, path, number);
  if (status.ok()) target = number;
  return status;
}

// What follows only the documentation needs.

Json show_value(bool value);
Json show_value(uint64_t value);
Json show_value(const std::string& value);
Json show_value(Prefer value);
Json show_value(InlineMedia::Mode value);
Json show_value(const std::vector<std::string>& value);
Json show_value(const std::vector<Signature>& value);
Json show_value(const decltype(Config::tool_fields)& value);

/// What a value must be, as a JSON Schema (draft 2020-12).
Json integer_schema(const Limits& limits);
Json schema_of(std::type_identity<bool>, const Limits& limits);
Json schema_of(std::type_identity<std::string>, const Limits& limits);
Json schema_of(std::type_identity<Prefer>, const Limits& limits);
Json schema_of(std::type_identity<InlineMedia::Mode>, const Limits& limits);
Json schema_of(std::type_identity<std::vector<std::string>>, const Limits& limits);
Json schema_of(std::type_identity<std::vector<Signature>>, const Limits& limits);
Json schema_of(std::type_identity<decltype(Config::tool_fields)>, const Limits& limits);

template <std::unsigned_integral Number>
Json schema_of(std::type_identity<Number>, const Limits& limits) {
  return integer_schema(limits);
}

}  // namespace config

}  // namespace sluice
