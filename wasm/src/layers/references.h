// References as they stand in strings, written and read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sluice/form.h"

namespace sluice::layers {

inline constexpr std::string_view kScheme = "artifact://";

/// What a reference says.
struct Reference {
  std::string id;
  std::string mime_type;
  Form form;
};

/// `artifact://<id>`: the name alone.
std::string plain_uri(std::string_view id);

/// Reads what `reference` wrote. Nothing when it is no reference, or its form is malformed.
std::optional<Reference> read_reference(std::string_view uri);

}  // namespace sluice::layers
