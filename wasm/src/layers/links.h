// Layer 1: links to resources, kept lazy (RFC 0.3 §4.3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layers/document.h"
#include "layers/notes.h"
#include "layers/shape.h"

namespace sluice::layers {

/// The blocks of type `resource_link`, in order; a link's place here is its number.
std::vector<uint32_t> links_of(const Document& document, const Shape& shape);

/// A link as an observation shows it: `{"type","uri",…,"mime_type","size_bytes","fetched","hint"}`.
/// `fetched` is what the host answered for it, a JSON object to be merged in, or empty. The hint
/// names `<namespace>.resources_read` and is left out once the resource was fetched.
std::string show_link(const Document& document, size_t block, const Notes& notes,
                      std::string_view name_space, const std::string& fetched);

}  // namespace sluice::layers
