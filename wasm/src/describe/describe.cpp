// One line about a stored thing, and the bytes that are kept of it until it is written.
#include "sluice/describe.h"

#include <algorithm>
#include <array>

#include "describe/evidence.h"
#include "describe/facts.h"
#include "describe/formats.h"
#include "describe/wide_text.h"
#include "sluice/facts.h"
#include "sniff/structure.h"
#include "sniff/types.h"
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
  set_evidence_size(segment.evidence, bytes);
}

namespace {

/// A longer length means that the file is broken.
constexpr uint64_t kMostSeconds = 10'000 * 3'600;
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
  if (noun.ends_with("sh")) line += 'e';
  line += 's';
}

void append_side(std::string& line, uint64_t size, bool first) {
  line += first ? ", " : " × ";
  line += grouped(size);
}

bool append_sides(std::string& line, const std::optional<Dimensions>& seen) {
  if (!seen) return false;
  append_side(line, seen->width, true);
  append_side(line, seen->height, false);
  if (!seen->unit.empty()) (line += ' ') += seen->unit;
  return true;
}

void append_two_digits(std::string& line, uint64_t number) {
  line += static_cast<char>('0' + number / 10);
  line += static_cast<char>('0' + number % 10);
}

void append_duration(std::string& line, uint64_t seconds) {
  if (seconds == 0 || seconds > kMostSeconds) return;
  const uint64_t hours = seconds / 3'600;
  line += ", ";
  if (hours > 0) {
    line += std::to_string(hours);
    line += ':';
    append_two_digits(line, seconds / 60 % 60);
  } else {
    line += std::to_string(seconds / 60);
  }
  line += ':';
  append_two_digits(line, seconds % 60);
  line += " long";
}

bool Quotes::add(std::string_view text) {
  if (count_ >= kMostQuotes) {
    if (count_++ == kMostQuotes) line_ += " and more";
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

std::string_view find_end(const Subject& subject) {
  const bool whole =
      subject.head.size() < kDescribeHead && subject.head.size() >= subject.size_bytes;
  return as_text(whole ? subject.head : subject.tail);
}

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

namespace {

/// What files begin with that keep something at their end.
constexpr std::string_view kTailed[][1] = {{"PK"},   {"OggS"}, {"\xD0\xCF\x11\xE0"},
                                           {"PAR1"}, {"II*"},  {"MM"}};

}  // namespace

bool wants_tail(Bytes head) {
  for (sniffing::Texts begins(sniffing::packed<kTailed>); !begins.done();) {
    if (stands(head, 0, begins.next())) return true;
  }
  const std::string_view text = as_text(head);
  // A disc image begins with nothing, and is told by what stands at 32 KB.
  if (text.substr(0, kSniffHead).find_first_not_of('\0') == text.npos && !text.empty()) return true;
  if (text.substr(0, 1024).find("%PDF-") != text.npos) return true;
  const auto box = first_box(head);
  return box && std::string_view(" ftyp moov wide mdat ").find(box->type) != text.npos;
}

// --- the line --------------------------------------------------------------------------------

namespace {

std::string label_of(const Subject& subject) {
  const std::string& label = subject.type.label;
  const bool plain = label.empty() || label == "text";
  if (plain && !subject.outline.empty()) return subject.is_lines ? "NDJSON" : "JSON";
  if (plain && !subject.kind.empty()) return subject.kind;
  if (!label.empty()) return label;
  return subject.text ? "text" : "data";
}

/// The format of a text, unless a program printed it: git writes diffs as messages.
TextFormat find_format(const Subject& subject, std::string_view head) {
  const bool other =
      !subject.text || subject.type.mime_type.starts_with("image/") || subject.kind == "diff";
  if (other) return {};
  head = head.substr(0, kSniffHead);
  const TextFormat format = find_text_format(head, subject.outline);
  const bool other_kind = format.is_known() || !subject.kind.empty();
  const bool key = (!other_kind || format.label == "JSON Web Key Set") && is_private_key(head);
  return key ? TextFormat{"private key", "", ""} : format;
}

constexpr std::string_view kFirstLine = ", first line";
constexpr std::string_view kBothLines = ", first and last line";
constexpr std::string_view kLastLine = ", last line";
constexpr std::string_view kOnlyLine = ", 1 line (from the file): ";
constexpr std::string_view kValues = ", values";

/// The last line with something in it, as far as it is seen.
std::string_view read_last_line(const Subject& subject) {
  const std::string_view end = find_end(subject);
  const size_t last = end.find_last_not_of(" \t\r\n\f\v");
  if (last == end.npos) return {};
  const size_t before = end.find_last_of("\r\n", last);
  if (before == end.npos) return {};
  return end.substr(before + 1, last - before);
}

void append_text_facts(std::string& line, const Subject& subject, std::string_view head) {
  if (append_page_facts(line, subject)) return;
  if (subject.lines > 0) append_count(line, subject.lines, "line");
  line += subject.kind_facts;
  const std::string_view first = head.substr(0, head.find_first_of("\r\n"));
  const std::string_view last = read_last_line(subject);
  // What is told of a kind says more than its first line.
  const bool told = !subject.kind.empty() || quote_untrusted(first).size() == 2;
  Quotes quotes(line, subject.lines == 1 ? std::string_view()
                      : told             ? kLastLine
                      : last.empty()     ? kFirstLine
                                         : kBothLines);
  if (!told) quotes.add(first);
  quotes.add(last);
}

/// Short values, in one line: `, values (from the file): next_cursor "b2Zmc2V0", has_more true`.
void append_values(std::string& line, std::string_view values) {
  constexpr size_t kLongest = 100;
  constexpr int kMostValues = 6;
  static constexpr std::string_view kBare = "_-./+=%:, \"";
  std::string told;
  int count = 0;
  while (!values.empty() && count < kMostValues) {
    const size_t end = std::min(values.find('\n'), values.size());
    const std::string_view value = values.substr(1, end - 1);
    values.remove_prefix(std::min(end + 1, values.size()));
    // What a call may need to have exactly has no other characters.
    const bool bare = std::all_of(value.begin(), value.end(),
                                  [](char c) { return is_alphanumeric(c) || is_among(c, kBare); });
    if (!bare || value.size() > kLongest || value.find("//") != value.npos ||
        value.find("www.") != value.npos) {
      continue;
    }
    told += told.empty() ? "" : ", ";
    told += value;
    ++count;
  }
  if (!told.empty()) line.append(kValues).append(kFromFile).append(told);
}

}  // namespace

// A file cannot write what is looked for: its own quotation marks are escaped, and before the first
// one nothing is quoted.
std::string_view without_first_line(std::string_view description) {
  size_t end = description.size();
  for (const std::string_view intro : {kFirstLine, kBothLines, kLastLine}) {
    end = std::min(end, description.rfind(std::string(intro).append(kFromFile) + '"'));
  }
  const std::string_view facts = description.substr(0, description.find('"'));
  // The only line follows its count.
  if (facts.ends_with(kOnlyLine)) end = facts.size() - kFromFile.size();
  end = std::min(end, facts.rfind(std::string(kValues).append(kFromFile)));
  return description.substr(0, end);
}

namespace {

std::string describe_unread(const Subject& subject, Bytes head) {
  const bool unknown =
      subject.type.mime_type == "application/octet-stream" ||
      (is_text_type(subject.type.mime_type) && !subject.type.mime_type.starts_with("image/"));
  if (!unknown || subject.text) return {};
  if (const auto wide = find_wide_text(head)) {
    std::string line = wide->width == 2 ? "UTF-16 text, " : "UTF-32 text, ";
    line += human_size(subject.size_bytes);
    Quotes(line, kFirstLine).add(read_first_line(*wide, head));
    return line;
  }
  return is_old_text(head) ? "text that is not UTF-8, " + human_size(subject.size_bytes) : "";
}

}  // namespace

void describe(const Subject& subject, Segment& segment) {
  const Bytes head = subject.head.first(std::min(subject.head.size(), kDescribeHead));
  const bool is_image = subject.type.mime_type.starts_with("image/");
  std::string& line = segment.description;
  segment.evidence.clear();
  line = describe_unread(subject, head);
  if (!line.empty()) {
    if (has_facts(subject.type, head)) segment.evidence = write_evidence(subject);
    return;
  }
  const TextFormat format = find_format(subject, as_text(head));
  line = format.is_known() ? std::string(format.label) : label_of(subject);
  const bool table = !subject.table.empty() && (line == "CSV" || line == "TSV");
  const bool sides = is_image && append_sides(line, read_dimensions(head));
  line += ", ";
  line += human_size(subject.size_bytes);
  if (format.is_known()) {
    append_format_facts(line, format, subject);
    if (!subject.outline.empty()) line += ": " + subject.outline;
    if (format.label == "certificate") {
      Subject told = subject;
      told.type = type_of_mime("application/pkix-cert");
      segment.evidence = write_evidence(told);
    }
  } else if (!subject.outline.empty()) {
    line += subject.is_lines ? ", " : ": ";
    line += subject.outline;
    append_values(line, subject.values);
  } else if (table) {
    line += subject.table;
  } else if (!is_image && subject.text) {
    append_text_facts(line, subject, as_text(head));
  } else if (sides) {
    append_frames(line, head);
  } else if (has_facts(subject.type, head)) {
    segment.evidence = write_evidence(subject);
  }
}

}  // namespace sluice
