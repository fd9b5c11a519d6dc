// What a document says about a thing beside it: names, types, sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "layers/document.h"

namespace sluice::layers {

/// The string under `key`, unless it holds markers; empty when there is none.
std::string string_member(const Document& document, size_t object, std::string_view key);

/// The whole number under `key`, if it is one.
std::optional<uint64_t> number_member(const Document& document, size_t object,
                                      std::string_view key);

/// A file name among the members of an object (`filename`, `fileName`, `file_name`), cleaned, or
/// empty.
std::string sibling_filename(const Document& document, size_t object);

/// The name of a resource, an image or the like: from its URI, `name`, `title`, or a file name
/// beside it.
std::string payload_filename(const Document& document, size_t holder);

}  // namespace sluice::layers
