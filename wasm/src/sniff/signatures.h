// The signature table and the walk over it.
#pragma once

#include "sniff/match.h"

namespace sluice::sniffing {

/// What the built-in table says of a head, containers refined.
std::optional<Match> match_signatures(Bytes head);

}  // namespace sluice::sniffing
