// Layer 4: the fields that the configuration names for a tool (RFC 0.3 §3.4).
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "layers/document.h"
#include "sluice/config.h"

namespace sluice::layers {

/// Most places one field path may name in one result.
inline constexpr size_t kMaxPlaces = 4'096;

/// A place that a field path names: a string, an array or the array in a Buffer, and the container
/// that the value stands in.
struct Place {
  size_t node = 0;
  size_t parent = 0;
};

/// The values that `path` names below `base`: dot path, list indexes (`items.0.data`,
/// `items[0].data`), `*` for every element or member; looked for in `base`, and behind a `result`
/// or `structuredContent` wrapper of it.
std::vector<Place> find_places(const Document& document, size_t base, std::string_view path);

}  // namespace sluice::layers
