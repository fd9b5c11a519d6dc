// Running the gate over whole documents in tests: what came out, and putting it together again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sluice/gate.h"

namespace sluice::testing {

/// Everything a pass produced. `contents[i]` is the content of segment i, references as markers.
struct Passed {
  Status status;
  std::string reduced;
  std::vector<Segment> segments;
  std::vector<std::string> contents;
  std::vector<bool> closed;
};

/// Feeds `json` in blocks of `block` bytes (0: all at once).
Passed pass(std::string_view json, const GateOptions& options = {}, size_t block = 0);

/// The same cut in two at `split`.
Passed pass_split(std::string_view json, const GateOptions& options, size_t split);

/// The document with every marker replaced by what it stands for.
std::string restore(const Passed& passed);

/// JSON text in one spelling: no white space, escapes undone where they need not be.
std::string normal(std::string_view json);

/// `size` bytes that begin with `magic`, the rest from a fixed pseudo-random sequence.
std::string bytes_like(std::string_view magic, size_t size, uint32_t seed = 1);

std::string base64(std::string_view bytes, bool url = false, bool padded = true);
std::string hex(std::string_view bytes);
/// Inserts `line_break` after every `column` characters.
std::string wrap(std::string_view text, size_t column, std::string_view line_break = "\n");
/// The text as a JSON string, quotes included.
std::string as_json(std::string_view text);

}  // namespace sluice::testing
