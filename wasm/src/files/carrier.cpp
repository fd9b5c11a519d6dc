#include "files/carrier.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "files/record.h"

namespace sluice::files {

namespace {

constexpr size_t kMaxDepth = 512;
constexpr std::string_view kRefsKey = "sluice/refs";

constexpr std::array<std::string_view, 6> kMembers = {
    "results", "meta_data", "retryable", "artifacts", "deferred_artifacts", "display"};

bool is_text(const Tape& tape, std::optional<size_t> node) {
  return node && tape[*node].type == Type::string;
}

/// `/tmp/ada/a.csv`, `C:\a.csv`, `\\server\a.csv`: what ordinary lists of names seldom have.
bool is_absolute(std::string_view path) {
  const bool has_drive = path.size() > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/');
  return path.starts_with('/') || path.starts_with("\\\\") || has_drive;
}

/// How surely a list is one of a contract's files.
enum class Files : uint8_t {
  none,
  likely,  ///< an element has a name and a path
  sure,    ///< and the path is absolute, or there are bytes
};

Files files_in(const Tape& tape, std::optional<size_t> list) {
  Files found = Files::none;
  if (!list || tape[*list].type != Type::array) return found;
  for (size_t at = *list + 1; at < tape[*list].next; at = tape[at].next) {
    if (!is_text(tape, tape.find(at, "name"))) continue;
    if (is_text(tape, tape.find(at, "b64"))) return Files::sure;
    const std::optional<size_t> path = tape.find(at, "path");
    if (!is_text(tape, path)) continue;
    if (is_absolute(tape.string(*path))) return Files::sure;
    found = Files::likely;
  }
  return found;
}

bool has_only_members(const Tape& tape, size_t object) {
  for (size_t key = object + 1; key < tape[object].next; key = tape[key + 1].next) {
    if (!is_member(tape, key)) return false;
  }
  return true;
}

/// Ordinary results may have a list called `artifacts`, and `results` of any kind: what else is
/// there, or what the list holds, decides.
bool is_contract(const Tape& tape, size_t object) {
  if (tape[object].type != Type::object) return false;
  const Files files = std::max(files_in(tape, tape.find(object, "artifacts")),
                               files_in(tape, tape.find(object, "deferred_artifacts")));
  if (files == Files::sure) return true;
  const std::optional<size_t> results = tape.find(object, "results");
  const bool has_results = results && is_object(tape, *results);
  return (has_results || files == Files::likely) && has_only_members(tape, object);
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

bool is_member(const Tape& tape, size_t key) {
  return std::any_of(kMembers.begin(), kMembers.end(),
                     [&](std::string_view member) { return tape.is_string(key, member); });
}

bool Carrier::find(std::string_view text) {
  if (!Tape::parse(text, tape_, kMaxDepth, false).ok()) return false;
  const std::optional<size_t> structured = tape_.find(0, "structuredContent");
  if (structured && is_contract(tape_, *structured)) {
    node_ = *structured;
    return true;
  }
  const std::optional<size_t> content = tape_.find(0, "content");
  if (content && tape_[*content].type == Type::array) return find_in_text(*content);
  return !structured && is_contract(tape_, 0);
}

bool Carrier::find_in_text(size_t content) {
  const size_t blocks = tape_.count(content);
  if (blocks != 1 && !(blocks == 2 && second_is_ours(tape_))) return false;
  const size_t block = content + 1;
  const std::optional<size_t> text = tape_.find(block, "text");
  if (!text || !says(tape_, block, "type", "text")) return false;
  inner_ = tape_.string(*text);
  return Tape::parse(inner_, inner_tape_, kMaxDepth, false).ok() && is_contract(inner_tape_, 0);
}

}  // namespace sluice::files
