// JSON text is UTF-8 (RFC 8259 §8.1); servers send other things.
#pragma once

#include <string>

namespace sluice {

/// Replaces every byte that begins no well-formed sequence by U+FFFD, as any decoder on the way
/// would. False when there was nothing to replace.
bool replace_malformed(std::string& text);

}  // namespace sluice
