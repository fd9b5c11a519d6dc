// What JSON can write and a configuration cannot hold.
#pragma once

#include "sluice/tape.h"

namespace sluice::config {

/// Whether every number of a text is finite as a double, and no string holds a lone surrogate.
bool is_valued(const Tape& tape);

}  // namespace sluice::config
