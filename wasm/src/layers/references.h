// References inside strings: writing and parsing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sluice/codec.h"

namespace sluice::layers {

inline constexpr std::string_view kScheme = "artifact://";

/// The parts of a reference.
struct Reference {
  std::string id;
  std::string mime_type;
  Form form;
};

/// `artifact://<id>` without a query.
std::string plain_uri(std::string_view id);

/// Parses what `reference` writes. Empty if it is no reference or its form is malformed.
std::optional<Reference> read_reference(std::string_view uri);

}  // namespace sluice::layers
