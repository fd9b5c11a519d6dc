// What a recogniser answers.
#pragma once

#include <cstdint>
#include <optional>

#include "sluice/bytes.h"
#include "sniff/fields.h"
#include "sniff/types.h"

namespace sluice::sniffing {

/// A recognised head. `certain`: neither text nor random data gets here by chance.
struct Match {
  Kind kind;
  bool certain = true;
};

/// Looks at a head and says what it is, or nothing.
using Recogniser = std::optional<Match> (*)(Bytes head);

}  // namespace sluice::sniffing
