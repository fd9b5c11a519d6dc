// One line about a stored thing, and the bytes that are kept of it until it is written.
#include "sluice/describe.h"

#include <algorithm>

#include "describe/boxes.h"
#include "describe/facts.h"
#include "describe/image.h"
#include "sniff/fields.h"

namespace sluice {

// --- the end of a file -----------------------------------------------------------------------

void Tail::push(std::string_view bytes) {
  if (bytes.size() >= kDescribeTail) {
    ring_ = bytes.substr(bytes.size() - kDescribeTail);
    at_ = 0;
    return;
  }
  if (ring_.empty()) ring_.reserve(kDescribeTail);
  const size_t grows = std::min(kDescribeTail - ring_.size(), bytes.size());
  ring_.append(bytes.substr(0, grows));
  for (bytes.remove_prefix(grows); !bytes.empty();) {
    const size_t piece = std::min(kDescribeTail - at_, bytes.size());
    bytes.copy(ring_.data() + at_, piece);
    at_ = (at_ + piece) % kDescribeTail;
    bytes.remove_prefix(piece);
  }
}

std::string Tail::finish(std::string_view head) const {
  const size_t missing = std::min(kDescribeTail - ring_.size(), head.size());
  std::string tail(head.substr(head.size() - missing));
  tail.append(ring_, at_);
  return tail.append(ring_, 0, at_);
}

bool wants_tail(Bytes head) {
  if (stands(head, 0, "PK") || stands(head, 0, "OggS")) return true;
  if (as_text(head).substr(0, 1024).find("%PDF-") != std::string_view::npos) return true;
  const auto box = first_box(head);
  return box &&
         (box->type == "ftyp" || box->type == "moov" || box->type == "wide" || box->type == "mdat");
}

// --- the line --------------------------------------------------------------------------------

namespace {

std::string label_of(const Subject& subject) {
  const std::string& label = subject.type.label;
  const bool plain = label.empty() || label == "text";
  if (plain && !subject.outline.empty()) return subject.is_lines ? "NDJSON" : "JSON";
  if (!label.empty()) return label;
  return subject.text ? "text" : "data";
}

void append_text_facts(std::string& line, const Subject& subject, std::string_view head) {
  if (subject.lines > 0) append_count(line, subject.lines, "line");
  Quotes(line, ", first line").add(head.substr(0, head.find_first_of("\r\n")));
}

void append_file_facts(std::string& line, const Subject& subject, Bytes head) {
  const uint64_t size = std::max<uint64_t>(subject.size_bytes, head.size());
  const Glimpse file{head, size == head.size() ? head : subject.tail, size};
  const std::string_view mime = subject.type.mime_type;
  if (mime.starts_with("audio/") || mime.starts_with("video/") || mime == "application/ogg") {
    append_length(line, file);
    return;
  }
  // An archive may hold a PDF as it is, right at its beginning.
  const bool is_archive = mime == "application/zip" || mime == "application/x-tar";
  if (!is_archive) append_pdf_facts(line, file);
  append_zip_facts(line, file, subject.type.extension);
  append_tar_facts(line, file);
  append_gzip_facts(line, file);
}

}  // namespace

std::string describe(const Subject& subject) {
  const Bytes head = subject.head.first(std::min(subject.head.size(), kDescribeHead));
  const bool is_image = subject.type.mime_type.starts_with("image/");
  std::string line = label_of(subject);
  const bool table = !subject.table.empty() && (line == "CSV" || line == "TSV");
  if (const auto seen = is_image ? image::dimensions(head) : std::nullopt) {
    line += ", ";
    line += grouped(seen->width);
    line += " × ";
    line += grouped(seen->height);
  }
  line += ", ";
  line += human_size(subject.size_bytes);
  if (!subject.outline.empty()) {
    line += subject.is_lines ? ", " : ": ";
    line += subject.outline;
  } else if (table) {
    line += subject.table;
  } else if (!is_image && subject.text) {
    append_text_facts(line, subject, as_text(head));
  } else if (!is_image) {
    append_file_facts(line, subject, head);
  }
  return line;
}

}  // namespace sluice
