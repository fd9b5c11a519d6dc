#include "restore/refs.h"

#include "layers/references.h"

namespace sluice::restoring {

using layers::Hole;

namespace {

bool read_string(const Tape& tape, size_t object, std::string_view key, std::string& out) {
  const std::optional<size_t> value = tape.find(object, key);
  if (!value) return true;
  if (tape[*value].type != Type::string) return false;
  out = tape.string(*value);
  return true;
}

bool read_flag(const Tape& tape, size_t object, std::string_view key) {
  const std::optional<size_t> value = tape.find(object, key);
  return value && tape.source(*value) == "true";
}

bool read_count(const Tape& tape, size_t object, size_t& out) {
  const std::optional<size_t> value = tape.find(object, "n");
  if (!value) return true;
  const std::string_view digits = tape.source(*value);
  if (tape[*value].type != Type::number || digits.size() > 9) return false;
  out = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return false;
    out = out * 10 + static_cast<size_t>(c - '0');
  }
  return true;
}

bool read_entry(const Tape& tape, size_t node, Entry& entry) {
  if (tape[node].type != Type::object || !tape.find(node, "at")) return false;
  std::string kind;
  if (!read_string(tape, node, "at", entry.at) || !read_string(tape, node, "uri", entry.uri) ||
      !read_string(tape, node, "kind", kind) || !read_string(tape, node, "wrap", entry.wrap) ||
      !read_string(tape, node, "from", entry.from) || !read_count(tape, node, entry.n)) {
    return false;
  }
  const std::optional<Hole> hole = kind_named(kind);
  if (!hole) return false;
  entry.kind = *hole;
  entry.key = read_flag(tape, node, "key");
  entry.added = read_flag(tape, node, "added");
  entry.was = tape.find(node, "was");
  entry.refs = tape.find(node, "refs");
  // An entry has exactly one of them.
  const int says = (entry.uri.empty() ? 0 : 1) + (entry.added ? 1 : 0) + (entry.was ? 1 : 0);
  return says == 1;
}

}  // namespace

std::optional<Hole> kind_named(std::string_view name) {
  if (name.empty()) return Hole::run;
  if (name == "text") return Hole::text;
  if (name == "bytes") return Hole::bytes;
  if (name == "json") return Hole::json;
  return std::nullopt;
}

Status misfit(std::string_view path, std::string_view message) {
  return {Code::restore_refs, 0, 0, std::string(path.substr(0, 200)), std::string(message)};
}

Status read_entries(const Tape& tape, size_t array, std::vector<Entry>& entries) {
  if (tape[array].type != Type::array) {
    return misfit(
        "", "The list of references is no array; restore needs the result as it was written.");
  }
  if (tape.count(array) > kMaxEntries) return misfit("", "The list of references is too long.");
  for (size_t at = array + 1; at < tape[array].next; at = tape[at].next) {
    Entry& entry = entries.emplace_back();
    if (!read_entry(tape, at, entry)) {
      return misfit(entry.at, "An entry of the list of references is malformed.");
    }
  }
  return {};
}

std::optional<Piece> piece_for(std::string_view uri, Hole kind) {
  std::optional<layers::Reference> reference = layers::read_reference(uri);
  if (!reference) return std::nullopt;
  Piece piece;
  piece.id = std::move(reference->id);
  piece.form = std::move(reference->form);
  piece.raw = kind == Hole::bytes;
  piece.kind = Piece::Kind::bytes;
  if (kind == Hole::text) piece.kind = Piece::Kind::text;
  if (kind == Hole::json) piece.kind = Piece::Kind::json;
  return piece;
}

void append_literal(std::vector<Piece>& pieces, std::string_view text) {
  if (text.empty()) return;
  if (pieces.empty() || pieces.back().kind != Piece::Kind::literal) pieces.emplace_back();
  pieces.back().literal += text;
}

}  // namespace sluice::restoring
