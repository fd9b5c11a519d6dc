#include "config/tool_field.h"

namespace sluice::config {

std::span<const std::string_view> tool_field_keys() {
  static constexpr std::array<std::string_view, kToolFieldRows.size()> kKeys = {
      kToolFieldRows[0].key, kToolFieldRows[1].key, kToolFieldRows[2].key, kToolFieldRows[3].key};
  return kKeys;
}

bool has_empty_step(std::string_view path) {
  return path.empty() || path.front() == '.' || path.back() == '.' ||
         path.find("..") != std::string_view::npos;
}

}  // namespace sluice::config
