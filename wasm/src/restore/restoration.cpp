#include "json/object.h"
#include "sluice/restore.h"
#include "sluice/tape.h"

namespace sluice {

namespace {

const char* kind_name(Piece::Kind kind) {
  switch (kind) {
    case Piece::Kind::bytes:
      return "bytes";
    case Piece::Kind::text:
      return "text";
    default:
      return "json";
  }
}

}  // namespace

Status Restoration::cut(std::string_view input, size_t refs) {
  pieces_.clear();
  next_ = 0;
  if (refs == 0) return restore_pieces(input, pieces_);
  const size_t size = input.size() - refs;
  return restore_pieces(input.substr(0, size), input.substr(size), pieces_);
}

Status Restoration::cut_text(std::string_view input, size_t refs, bool json_source) {
  pieces_.clear();
  next_ = 0;
  const size_t size = input.size() - refs;
  return restore_text_pieces(input.substr(0, size), input.substr(size), json_source, pieces_);
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
            .text("kind", kind_name(piece.kind))
            .text("id", piece.id)
            .text("form", form_name(piece.form, ""))
            .flag("raw", piece.raw)
            .end();
  return true;
}

Status Restoration::open_form(std::string_view name, bool raw) {
  const auto form = parse_form(name, "");
  Status status;
  if (!form) {
    status.code = Code::restore_refs;
    status.message = "a reference names a form that does not exist";
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
