// How a file is written for the library that tells its facts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/describe.h"
#include "sniff/structure.h"

namespace sluice {

/// Numbers of eight bytes, the lowest first: the size; whether the head is everything; the sizes of
/// media type, extension, label and head. Then these, and then the tail.
inline constexpr size_t kEvidenceNumbers = 6;

/// Gives the file the size that it has in the store.
void set_evidence_size(std::string& evidence, uint64_t bytes);

/// Type and size, and views of both ends; false for what `write_evidence` did not write.
bool read_evidence(std::string_view evidence, Subject& subject, Glimpse& file);

}  // namespace sluice
