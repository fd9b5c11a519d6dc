#include "files/carrier.h"

#include <optional>

namespace sluice::files {

namespace {

constexpr size_t kMaxDepth = 512;
constexpr std::string_view kRefsKey = "sluice/refs";

bool has_results(const Tape& tape, size_t node) {
  return tape.find(node, "results").has_value();
}

bool says(const Tape& tape, size_t object, std::string_view key, std::string_view value) {
  const std::optional<size_t> found = tape.find(object, key);
  return found && tape.is_string(*found, value);
}

/// Whether the second block is the note that the mcp dialect adds behind what a tool said.
bool second_is_ours(const Tape& tape) {
  const std::optional<size_t> meta = tape.find(0, "_meta");
  const std::optional<size_t> refs = meta ? tape.find(*meta, kRefsKey) : std::nullopt;
  if (!refs || tape[*refs].type != Type::array) return false;
  for (size_t at = *refs + 1; at < tape[*refs].next; at = tape[at].next) {
    const std::optional<size_t> added = tape.find(at, "added");
    if (added && tape.source(*added) == "true" && says(tape, at, "at", "/content/1")) return true;
  }
  return false;
}

}  // namespace

bool Carrier::find(std::string_view text) {
  if (!Tape::parse(text, tape_, kMaxDepth, false).ok()) return false;
  const std::optional<size_t> structured = tape_.find(0, "structuredContent");
  if (structured && has_results(tape_, *structured)) {
    node_ = *structured;
    return true;
  }
  const std::optional<size_t> content = tape_.find(0, "content");
  if (content && tape_[*content].type == Type::array) return find_in_text(*content);
  return !structured && has_results(tape_, 0);
}

bool Carrier::find_in_text(size_t content) {
  const size_t blocks = tape_.count(content);
  if (blocks != 1 && !(blocks == 2 && second_is_ours(tape_))) return false;
  const size_t block = content + 1;
  const std::optional<size_t> text = tape_.find(block, "text");
  if (!text || !says(tape_, block, "type", "text")) return false;
  inner_ = tape_.string(*text);
  return Tape::parse(inner_, inner_tape_, kMaxDepth, false).ok() && has_results(inner_tape_, 0);
}

}  // namespace sluice::files
