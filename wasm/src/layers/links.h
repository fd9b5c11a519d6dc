// Layer 1: resource links, kept lazy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layers/document.h"
#include "layers/notes.h"

namespace sluice::layers {

/// The blocks of type `resource_link`, in order. The position here is the link's number.
std::vector<uint32_t> links_of(const Document& document, const Shape& shape);

/// A link as an observation shows it: `{"type","uri",…,"mime_type","size_bytes","fetched","hint"}`.
/// `fetched` is the host's answer, a JSON object whose members are added, or empty. The hint names
/// `<namespace>.resources_read`; it is left out once the resource was fetched.
std::string show_link(const Document& document, size_t block, const Notes& notes,
                      std::string_view name_space, const std::string& fetched);

}  // namespace sluice::layers
