// Cuts a written result, or a stored text, into the pieces of the original.
#include "sluice/restore.h"

#include <algorithm>
#include <array>

#include "json/object.h"
#include "json/spelling.h"
#include "layers/result/references.h"
#include "restore/cutter.h"
#include "sluice/layers.h"
#include "sluice/tape.h"
#include "text/ascii.h"

namespace sluice {

// --- a result --------------------------------------------------------------------------------

using layers::Hole;
using restoring::append_literal;
using restoring::Cutter;
using restoring::Entry;
using restoring::misfit;

namespace {

/// The result itself. In a JSON-RPC response that is `result`.
size_t body_of(const Tape& tape) {
  const std::optional<size_t> result = tape.find(0, "result");
  return tape.find(0, "jsonrpc") && result ? *result : 0;
}

Status restore_document(const Tape& tape, std::vector<Piece>& pieces) {
  const size_t body = body_of(tape);
  const std::optional<size_t> meta = tape.find(body, "_meta");
  const std::optional<size_t> list = meta ? tape.find(*meta, kRefsKey) : std::nullopt;
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

  // Not one document, so try one per line.
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

Status restore_pieces(std::string_view json, std::string_view refs_json, std::vector<Piece>& pieces,
                      bool named) {
  Tape tape;
  Tape refs;
  Status status = Tape::parse(json, tape, kMaxTapeDepth, false);
  if (status.ok()) status = Tape::parse(refs_json, refs, kMaxTapeDepth, false);
  std::vector<Entry> entries;
  if (status.ok()) status = restoring::read_entries(refs, 0, entries);
  if (!status.ok()) return status;
  Cutter cutter(tape, body_of(tape), refs);
  status = cutter.undo(entries);
  if (named) cutter.take_list_out();
  return status.ok() ? cutter.finish(0, tape.text().size(), pieces) : status;
}

std::string inner_ref(const Segment& inner, std::string_view id, uint64_t offset) {
  Object out;
  out.number("offset", offset).text("uri", reference(inner, id, true));
  const std::string_view kind = kind_of(inner);
  if (!kind.empty()) out.text("kind", kind);
  const bool run = inner.kind == SegmentKind::run;
  const std::string form = run ? layers::form_of(inner) : inner.spelling.substr(0, inner.spelled);
  if (!form.empty()) out.text("form", form);
  return out.end();
}

// --- references inside a stored text ---------------------------------------------------------

namespace {

struct Inner {
  size_t offset = 0;
  std::string uri;
  std::string form;
  Hole kind = Hole::run;
};

bool read_inner(const Tape& tape, size_t node, Inner& inner) {
  const std::optional<size_t> offset = tape.find(node, "offset");
  const std::optional<size_t> uri = tape.find(node, "uri");
  const std::optional<size_t> name = tape.find(node, "kind");
  const std::optional<Hole> kind = restoring::kind_named(name ? tape.string(*name) : std::string());
  const auto place = offset ? decimal(tape.source(*offset), 15) : std::nullopt;
  if (!place || !uri || !kind) return false;
  inner.offset = static_cast<size_t>(*place);
  inner.uri = tape.string(*uri);
  inner.kind = *kind;
  if (const auto form = tape.find(node, "form")) inner.form = tape.string(*form);
  return true;
}

Status read_list(std::string_view refs_json, std::vector<Inner>& list) {
  if (refs_json.empty()) return {};
  Tape tape;
  Status status = Tape::parse(refs_json, tape, 16, false);
  if (!status.ok()) return status;
  if (tape[0].type != Type::array) return misfit("", "The list of references is not an array.");
  for (size_t at = 1; at < tape.size(); at = tape[at].next) {
    if (!read_inner(tape, at, list.emplace_back())) {
      return misfit("", "An entry of the list of references is malformed.");
    }
  }
  return {};
}

}  // namespace

Status restore_text_pieces(std::string_view text, std::string_view refs_json, bool json_source,
                           std::string_view spelling, std::vector<Piece>& pieces) {
  std::vector<Inner> list;
  Status status = read_list(refs_json, list);
  if (!status.ok()) return status;
  const std::optional<std::vector<Spelling>> strings = parse_spellings(spelling);
  if (!strings) return misfit("", "The form of a reference is malformed.");
  const auto append_text = [&](std::string_view part) {
    if (json_source) return append_literal(pieces, part);
    std::string spelled;
    append_spelled(spelled, part, *strings);
    std::string escaped;
    append_escaped(escaped, spelled);
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
      return misfit("", "The reference in the list differs from the one in the text.");
    }
    // The reference, now a string, replaced a value.
    Hole kind = inner.kind;
    const bool value = kind == Hole::json || kind == Hole::bytes;
    const bool quoted = json_source && begin > copied && text[begin - 1] == '"' &&
                        end < text.size() && text[end] == '"';
    if (value && quoted) {
      --begin;
      ++end;
    }
    if (value && !quoted) kind = kind == Hole::json ? Hole::text : Hole::run;
    std::optional<Piece> piece = restoring::piece_for(inner.uri, kind, inner.form);
    if (!piece) return misfit("", "An entry of the list of references does not name an artifact.");
    if (piece->kind != Piece::Kind::bytes && !spelling.empty()) {
      if (!piece->spelling.empty()) piece->spelling += '.';
      piece->spelling += spelling;
    }
    append_text(text.substr(copied, begin - copied));
    pieces.push_back(std::move(*piece));
    copied = end;
  }
  append_text(text.substr(copied));
  return {};
}

// --- as a host drives it -------------------------------------------------------------------------

namespace {

/// By Piece::Kind.
constexpr std::array<std::string_view, 4> kKindNames = {"literal", "bytes", "text", "json"};

}  // namespace

Status Restoration::cut(std::string_view input, size_t refs, bool named) {
  pieces_.clear();
  next_ = 0;
  if (refs == 0) return restore_pieces(input, pieces_);
  const size_t size = input.size() - refs;
  return restore_pieces(input.substr(0, size), input.substr(size), pieces_, named);
}

Status Restoration::cut_text(std::string_view input, size_t refs, size_t form, bool json_source) {
  pieces_.clear();
  next_ = 0;
  const std::string_view spelling = input.substr(input.size() - form);
  input.remove_suffix(form);
  const size_t size = input.size() - refs;
  return restore_text_pieces(input.substr(0, size), input.substr(size), json_source, spelling,
                             pieces_);
}

bool Restoration::next(std::string& out) {
  if (next_ == pieces_.size()) return false;
  Piece& piece = pieces_[next_++];
  if (piece.kind == Piece::Kind::literal) {
    out = '=';
    out += piece.literal;
    return true;
  }
  out = Object()
            .text("kind", kKindNames[static_cast<size_t>(piece.kind)])
            .text("id", piece.id)
            .text("form",
                  piece.kind == Piece::Kind::bytes ? form_name(piece.form, "") : piece.spelling)
            .flag("raw", piece.raw)
            .end();
  return true;
}

Status Restoration::open_form(std::string_view name, bool raw) {
  const auto form = parse_form(name, "");
  Status status;
  if (!form) {
    status.code = Code::restore_refs;
    status.message = "a reference has an unknown form";
    return status;
  }
  writer_.emplace(*form);
  raw_ = raw;
  return status;
}

void Restoration::escape(std::string& out) {
  if (raw_) {
    out.swap(text_);
  } else {
    append_escaped(out, text_);
  }
}

void Restoration::write(std::string_view bytes, std::string& out) {
  text_.clear();
  out.clear();
  writer_->write(bytes, text_);
  escape(out);
}

void Restoration::close(std::string& out) {
  text_.clear();
  out.clear();
  writer_->finish(text_);
  escape(out);
}

}  // namespace sluice
