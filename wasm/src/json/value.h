// The configuration as values, which nlohmann_json reads and writes. What is in the stream stays
// source text on a tape.
#pragma once

// In the module an assertion would only bring its words.
#ifdef __EMSCRIPTEN__
#define JSON_ASSERT(condition) static_cast<void>(0)
#endif

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "sluice/tape.h"

namespace sluice {

/// A value. Members keep their order; of duplicates the last value stands in the place of the
/// first.
using Json = nlohmann::ordered_json;

/// Maximum members of an object: each key is compared with those before it.
inline constexpr size_t kMaxMembers = 2'000;

/// Reads a text that a tape has accepted, so it is JSON of bounded depth. Discarded
/// (`is_discarded`) if something in it has no value (a number that is not finite as a double, an
/// escaped lone surrogate) or if an object has more than `kMaxMembers`.
Json read_json(const Tape& tape);

/// `value` as JSON text without white space. Invalid UTF-8 becomes U+FFFD.
std::string write_json(const Json& value);

}  // namespace sluice
