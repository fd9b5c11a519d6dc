// One line about a stored thing, and the bytes that are kept of it until it is written.
#include "sluice/describe.h"

#include <algorithm>
#include <array>

#include "describe/facts.h"
#include "sniff/structure.h"
#include "text/ascii.h"

namespace sluice {

// --- counts, sizes and quotations ----------------------------------------------------------------

std::string human_size(uint64_t bytes) {
  static constexpr std::array<const char*, 6> kUnits = {" KB", " MB", " GB", " TB", " PB", " EB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  uint64_t whole = 0;
  uint64_t tenths = 0;
  size_t unit = 0;
  for (;; ++unit) {
    const uint64_t size = uint64_t{1} << (10 * (unit + 1));
    const uint64_t rest = bytes % size;
    whole = bytes / size;
    tenths = (rest * 10 + size / 2) / size;
    if (tenths == 10) {
      ++whole;
      tenths = 0;
    }
    if (whole < 1024 || unit + 1 == kUnits.size()) break;
  }
  return std::to_string(whole) + "." + std::to_string(tenths) + kUnits[unit];
}

void resize(Segment& segment, uint64_t bytes) {
  const std::string was = ", " + human_size(segment.bytes);
  // It stands behind the kind, where nothing is quoted yet.
  const size_t at = segment.description.find(was);
  if (at != std::string::npos) {
    segment.description.replace(at, was.size(), ", " + human_size(bytes));
  }
  segment.bytes = bytes;
}

namespace {

constexpr int kMostQuotes = 5;
constexpr std::string_view kFromFile = " (from the file): ";

}  // namespace

void append_count(std::string& line, uint64_t count, std::string_view noun) {
  line += ", ";
  line += grouped(count);
  line += ' ';
  line += noun;
  if (count == 1) return;
  if (noun.ends_with('y')) {
    line.pop_back();
    line += "ie";
  }
  line += 's';
}

bool Quotes::add(std::string_view text) {
  if (count_ == kMostQuotes) {
    line_ += " and more";
    return false;
  }
  const std::string quote = quote_untrusted(text);
  if (quote.size() == 2) return true;
  if (count_++ == 0) {
    line_ += intro_;
    line_ += kFromFile;
  } else {
    line_ += ", ";
  }
  line_ += quote;
  return true;
}

// --- the end of a file -----------------------------------------------------------------------

void Tail::push(std::string_view bytes) {
  if (bytes.size() >= size_) {
    ring_ = bytes.substr(bytes.size() - size_);
    at_ = 0;
    return;
  }
  if (ring_.empty()) ring_.reserve(size_);
  const size_t grows = std::min(size_ - ring_.size(), bytes.size());
  ring_.append(bytes.substr(0, grows));
  for (bytes.remove_prefix(grows); !bytes.empty();) {
    const size_t piece = std::min(size_ - at_, bytes.size());
    bytes.copy(ring_.data() + at_, piece);
    at_ = (at_ + piece) % size_;
    bytes.remove_prefix(piece);
  }
}

std::string Tail::finish(std::string_view head) const {
  const size_t missing = std::min(size_ - ring_.size(), head.size());
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

constexpr std::string_view kFirstLine = ", first line";
constexpr std::string_view kOnlyLine = ", 1 line (from the file): ";

void append_text_facts(std::string& line, const Subject& subject, std::string_view head) {
  if (subject.lines > 0) append_count(line, subject.lines, "line");
  const std::string_view intro = subject.lines == 1 ? std::string_view() : kFirstLine;
  Quotes(line, intro).add(head.substr(0, head.find_first_of("\r\n")));
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

// A file cannot write it: where anything is quoted before it, it stays.
std::string_view without_first_line(std::string_view description) {
  const std::string_view facts = description.substr(0, description.find('"'));
  size_t at = facts.rfind(kFirstLine);
  // The only line follows its count.
  if (facts.ends_with(kOnlyLine)) at = facts.size() - kFromFile.size();
  return at == facts.npos ? description : description.substr(0, at);
}

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
