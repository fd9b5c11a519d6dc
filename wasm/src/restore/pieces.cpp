#include <algorithm>

#include "json/object.h"
#include "layers/references.h"
#include "restore/cutter.h"
#include "sluice/layers.h"

namespace sluice {

using restoring::append_literal;
using restoring::Cutter;
using restoring::Entry;

namespace {

/// The result itself: in a JSON-RPC response its `result`.
size_t body_of(const Tape& tape) {
  const std::optional<size_t> result = tape.find(0, "result");
  return tape.find(0, "jsonrpc") && result ? *result : 0;
}

Status restore_document(const Tape& tape, std::vector<Piece>& pieces) {
  const size_t body = body_of(tape);
  const std::optional<size_t> meta = tape.find(body, "_meta");
  const std::optional<size_t> list = meta ? tape.find(*meta, layers::kRefsKey) : std::nullopt;
  if (!list) {
    append_literal(pieces, tape.text());
    return {};
  }
  std::vector<Entry> entries;
  Status status = restoring::read_entries(tape, *list, entries);
  if (!status.ok()) return status;
  Cutter cutter(tape, body, tape);
  status = cutter.undo(entries);
  if (!status.ok()) return status;
  cutter.take_list_out();
  return cutter.finish(0, tape.text().size(), pieces);
}

Status restore_line(std::string_view line, std::vector<Piece>& pieces) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
    append_literal(pieces, line);
    return {};
  }
  Tape tape;
  const Status status = Tape::parse(line, tape, kMaxTapeDepth, false);
  return status.ok() ? restore_document(tape, pieces) : status;
}

std::string_view kind_of(const Segment& segment) {
  if (segment.kind == SegmentKind::run) return segment.bare ? "bytes" : "";
  return segment.bare ? "json" : "text";
}

}  // namespace

Status restore_pieces(std::string_view json, std::vector<Piece>& pieces) {
  Tape tape;
  Status whole = Tape::parse(json, tape, kMaxTapeDepth, false);
  if (whole.ok()) return restore_document(tape, pieces);

  // Not one document: one in each line, then.
  uint64_t number = 0;
  while (!json.empty()) {
    const size_t end = std::min(json.find('\n'), json.size());
    ++number;
    Status status = restore_line(json.substr(0, end), pieces);
    if (!status.ok() && number == 1) return whole;
    if (!status.ok()) {
      if (status.line > 0) status.line = number;
      return status;
    }
    if (end < json.size()) append_literal(pieces, "\n");
    json.remove_prefix(std::min(end + 1, json.size()));
  }
  return {};
}

Status restore_pieces(std::string_view json, std::string_view refs_json,
                      std::vector<Piece>& pieces) {
  Tape tape;
  Tape refs;
  Status status = Tape::parse(json, tape, kMaxTapeDepth, false);
  if (status.ok()) status = Tape::parse(refs_json, refs, kMaxTapeDepth, false);
  std::vector<Entry> entries;
  if (status.ok()) status = restoring::read_entries(refs, 0, entries);
  if (!status.ok()) return status;
  Cutter cutter(tape, body_of(tape), refs);
  status = cutter.undo(entries);
  return status.ok() ? cutter.finish(0, tape.text().size(), pieces) : status;
}

std::string inner_ref(const Segment& inner, std::string_view id, uint64_t offset) {
  Object out;
  out.number("offset", offset).text("uri", reference(inner, id, true));
  const std::string_view kind = kind_of(inner);
  if (!kind.empty()) out.text("kind", kind);
  return out.end();
}

}  // namespace sluice
