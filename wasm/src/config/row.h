// One key of the configuration: everything the reader and the documentation know about it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/value.h"
#include "sluice/config.h"

namespace sluice::config {

/// A key. `least` and `most` bound an integer, the characters of a string, or the entries of a list
/// or map; both 0 when there is nothing to bound.
struct Row {
  std::string_view key;   ///< whole path, e.g. `guardrail.max_field_chars`
  std::string_view type;  ///< as the documentation names it
  uint64_t least;
  uint64_t most;
  /// Checks a value and puts it into the configuration.
  Status (*read)(const Limits& limits, const Value& value, const std::string& path, Config& config);
  /// Appends the value that a configuration has, as JSON.
  void (*show)(const Config& config, std::string& out);
  /// Appends what a value must be, as members of a JSON Schema.
  void (*shape)(const Limits& limits, std::string& out);
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

}  // namespace sluice::config
