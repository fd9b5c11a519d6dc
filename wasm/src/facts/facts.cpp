// The description of a file whose kind says more of itself than type and size.
#include "sluice/facts.h"

#include "describe/evidence.h"
#include "facts/kinds.h"

namespace sluice {

namespace {

void append_file_facts(std::string& line, const FileType& type, const Glimpse& file) {
  const std::string_view mime = type.mime_type;
  if (type.extension == "mid") append_family_facts(line, file, "mid");
  if (mime.starts_with("audio/") || mime.starts_with("video/") || mime == "application/ogg") {
    append_media_facts(line, file);
    return;
  }
  // A text that was decoded for this: `head` is its first line.
  if (mime == "text/plain") {
    Quotes(line, ", first line").add(as_text(file.head));
    return;
  }
  // An archive may hold a PDF as it is, right at its beginning.
  const bool is_archive = mime == "application/zip" || mime == "application/x-tar";
  if (!is_archive) append_pdf_facts(line, file);
  append_zip_facts(line, file, type.extension);
  append_compound_facts(line, file, type.extension);
  append_tar_facts(line, file);
  append_gzip_facts(line, file);
  append_family_facts(line, file, type.extension);
}

}  // namespace

std::string tell_facts(std::string_view evidence) {
  Subject subject;
  Glimpse file;
  if (!read_evidence(evidence, subject, file)) return {};
  const FileType& type = subject.type;
  if (type.mime_type == "application/pdf") return tell_pdf_facts(evidence);
  std::string line = type.label.empty() ? "data" : type.label;
  const bool is_image = type.mime_type.starts_with("image/");
  const bool has_sides = is_image && append_sides(line, find_dimensions(file.head));
  line += ", ";
  line += human_size(subject.size_bytes);
  const size_t begin = line.size();
  if (has_sides) {
    append_family_facts(line, file, type.extension);
  } else {
    append_file_facts(line, type, file);
  }
  // The core says as much of bytes that are no known file.
  return type.label.empty() && line.size() == begin ? std::string() : line;
}

}  // namespace sluice
