// References inside a stored text.
#include "json/order.h"
#include "layers/references.h"
#include "restore/refs.h"

namespace sluice {

using layers::Hole;
using restoring::append_literal;
using restoring::misfit;

namespace {

struct Inner {
  size_t offset = 0;
  std::string uri;
  Hole kind = Hole::run;
};

bool read_offset(std::string_view digits, size_t& offset) {
  if (digits.size() > 15) return false;
  offset = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return false;
    offset = offset * 10 + static_cast<size_t>(c - '0');
  }
  return !digits.empty();
}

bool read_inner(const Tape& tape, size_t node, Inner& inner) {
  const std::optional<size_t> offset = tape.find(node, "offset");
  const std::optional<size_t> uri = tape.find(node, "uri");
  const std::optional<size_t> name = tape.find(node, "kind");
  const std::optional<Hole> kind = restoring::kind_named(name ? tape.string(*name) : std::string());
  if (!offset || !uri || !kind || !read_offset(tape.source(*offset), inner.offset)) return false;
  inner.uri = tape.string(*uri);
  inner.kind = *kind;
  return true;
}

Status read_list(std::string_view refs_json, std::vector<Inner>& list) {
  if (refs_json.empty()) return {};
  Tape tape;
  Status status = Tape::parse(refs_json, tape, 16, false);
  if (!status.ok()) return status;
  if (tape[0].type != Type::array) return misfit("", "The list of references is no array.");
  for (size_t at = 1; at < tape.size(); at = tape[at].next) {
    if (!read_inner(tape, at, list.emplace_back())) {
      return misfit("", "An entry of the list of references is malformed.");
    }
  }
  return {};
}

}  // namespace

Status restore_text_pieces(std::string_view text, std::string_view refs_json, bool json_source,
                           std::vector<Piece>& pieces) {
  std::vector<Inner> list;
  Status status = read_list(refs_json, list);
  if (!status.ok()) return status;
  const auto append_text = [&](std::string_view part) {
    if (json_source) return append_literal(pieces, part);
    std::string escaped;
    append_escaped(escaped, part);
    append_literal(pieces, escaped);
  };
  std::vector<uint64_t> offsets;
  offsets.reserve(list.size());
  for (const Inner& inner : list) offsets.push_back(inner.offset);
  size_t copied = 0;
  for (const uint32_t index : order_of(offsets)) {
    const Inner& inner = list[index];
    size_t begin = inner.offset;
    size_t end = begin + inner.uri.size();
    if (begin < copied || end > text.size() || text.substr(begin, inner.uri.size()) != inner.uri) {
      return misfit("", "The reference in the list is not the one in the text.");
    }
    // A value stood where its reference is now a string.
    Hole kind = inner.kind;
    const bool value = kind == Hole::json || kind == Hole::bytes;
    const bool quoted = json_source && begin > copied && text[begin - 1] == '"' &&
                        end < text.size() && text[end] == '"';
    if (value && quoted) {
      --begin;
      ++end;
    } else if (value) {
      kind = kind == Hole::json ? Hole::text : Hole::run;
    }
    std::optional<Piece> piece = restoring::piece_for(inner.uri, kind);
    if (!piece) return misfit("", "An entry of the list of references names no artifact.");
    append_text(text.substr(copied, begin - copied));
    pieces.push_back(std::move(*piece));
    copied = end;
  }
  append_text(text.substr(copied));
  return {};
}

}  // namespace sluice
