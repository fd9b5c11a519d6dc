// One key of the configuration: everything the reader and the documentation know about it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "sluice/config.h"

namespace sluice::config {

using Json = nlohmann::ordered_json;

/// A key. `least` and `most` bound an integer, the characters of a string, or the entries of a list
/// or map; both 0 when there is nothing to bound.
struct Row {
  std::string_view key;   ///< whole path, e.g. `guardrail.max_field_chars`
  std::string_view type;  ///< as the documentation names it
  uint64_t least;
  uint64_t most;
  /// Checks a value and puts it into the configuration; `path` is where it stands.
  Status (*read)(const Row& row, const Json& value, const std::string& path, Config& config);
  /// The value that a configuration has.
  Json (*show)(const Config& config);
  std::string_view description;
};

/// Every key, in the order of the documentation.
std::span<const Row> config_rows();

}  // namespace sluice::config
