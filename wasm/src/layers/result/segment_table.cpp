#include "layers/result/segment_table.h"

#include <algorithm>
#include <tuple>

#include "describe/wide_text.h"
#include "layers/result/names.h"
#include "layers/result/references.h"
#include "sluice/describe.h"
#include "sluice/sniff.h"
#include "sluice/tape.h"

namespace sluice::layers {

// --- the table -------------------------------------------------------------------------------

namespace {

constexpr size_t kMaxSegments = 0x10000;  // four hex digits in a marker
constexpr std::string_view kUnknown = "application/octet-stream";

bool is_unknown(std::string_view mime_type) {
  return mime_type.empty() || mime_type == kUnknown;
}

std::string_view default_type(SegmentKind kind) {
  if (kind == SegmentKind::json) return "application/json";
  return kind == SegmentKind::text ? std::string_view("text/plain") : kUnknown;
}

}  // namespace

SegmentTable::SegmentTable(const Config& config, const Call& call, std::vector<Segment> segments)
    : config_(config),
      call_(call),
      restores_(call.dialect == Dialect::mcp),
      given_(segments.size()),
      segments_(std::move(segments)) {
  for (Segment& segment : segments_) {
    if (segment.mime_type.empty()) segment.mime_type = default_type(segment.kind);
    abouts_.emplace_back().base = base();
    abouts_.back().filename = clean_filename(segment.filename);
  }
}

// The beginning of names of files: the tool's.
const std::string& SegmentTable::base() {
  if (base_.empty()) base_ = clean_filename(call_.tool);
  if (base_.empty()) base_ = "artifact";
  return base_;
}

std::optional<uint32_t> SegmentTable::add(Segment segment, std::string_view bytes,
                                          bool references) {
  if (size() - given_ >= kMaxAdded || size() >= kMaxSegments) return std::nullopt;
  const auto index = static_cast<uint32_t>(size());
  segment.whole = true;
  segment.bytes = bytes.size();
  segments_.push_back(std::move(segment));
  abouts_.emplace_back().base = base();
  append_event(events_, EventKind::open, index);
  size_t logged = 0;
  for (size_t at = bytes.find(kMarkerOpen); references && at != std::string_view::npos;
       at = bytes.find(kMarkerOpen, at + 1)) {
    const int32_t inner = marker_at(bytes, at);
    if (inner < 0) continue;
    append_event(events_, EventKind::data, index, bytes.substr(logged, at - logged));
    append_reference_event(events_, index, static_cast<uint32_t>(inner));
    logged = at + kMarkerBytes;
  }
  append_event(events_, EventKind::data, index, bytes.substr(logged));
  append_event(events_, EventKind::close, index);
  return index;
}

std::optional<uint32_t> SegmentTable::add_bytes(const Payload& payload, std::string_view source) {
  const Bytes bytes = as_bytes(payload.bytes);
  const Bytes head = bytes.first(std::min(bytes.size(), kDescribeHead));
  const Bytes tail = bytes.last(std::min(bytes.size(), kDescribeTail));
  const std::optional<FileType> sniffed =
      sniff(head, tail, bytes.size(), config_.binary_detection.signatures);
  Subject subject;
  subject.text = !sniffed && is_text(payload.bytes);
  subject.type = sniffed ? *sniffed : type_of_mime(subject.text ? "text/plain" : kUnknown);
  subject.size_bytes = payload.bytes.size();
  subject.head = head;
  subject.tail = tail;
  if (subject.text) tell_text(payload.bytes, subject);
  Segment segment;
  segment.form = payload.form;
  segment.bare = payload.bare;
  segment.chars = count_chars(source);
  segment.mime_type = subject.type.mime_type;
  segment.extension = subject.type.extension;
  segment.no_text = !sniffed && is_no_text(head);
  describe(subject, segment);
  add_excerpts(subject, segment);
  if (segment.mime_type.starts_with("image/") &&
      payload.bytes.size() <= config_.inline_media.max_bytes) {
    segment.kept = payload.bytes;
  }
  return add(std::move(segment), payload.bytes, false);
}

std::optional<uint32_t> SegmentTable::add_text(std::string_view text) {
  Subject subject;
  subject.type = type_of_mime(default_type(SegmentKind::text));
  subject.size_bytes = text.size();
  subject.head = as_bytes(text.substr(0, kDescribeHead));
  subject.tail = as_bytes(text.substr(text.size() - std::min(text.size(), kExcerptTail)));
  subject.text = true;
  const FileType type = subject.type;
  tell_text(text, subject);
  Segment segment;
  segment.kind = SegmentKind::text;
  segment.chars = count_chars(text);
  segment.mime_type = type.mime_type;
  segment.extension = type.extension;
  describe(subject, segment);
  add_excerpts(subject, segment);
  const size_t limit = std::max(config_.guardrail.max_field_chars, kPreviewChars);
  segment.preview = preview(text, limit);
  segment.previewed_whole = segment.chars <= limit;
  return add(std::move(segment), text, true);
}

namespace {

/// Characters of a description within which it says "text", behind the name of an encoding.
constexpr size_t kTextLabel = 28;

}  // namespace

void SegmentTable::declare_bytes(Segment& segment, const About& about, std::string_view mime_type,
                                 bool trusted) {
  // A part of a file is no file, whatever is declared.
  if (segment.cut) return;
  const bool unknown = is_unknown(segment.mime_type);
  std::optional<FileType> sniffed;
  if (!unknown) sniffed = type_of_mime(segment.mime_type);
  if (sniffed && !segment.extension.empty()) sniffed->extension = segment.extension;
  // Text may be any declared kind of text.
  if (segment.mime_type == "text/plain" && is_text_type(plain_type(mime_type))) sniffed.reset();
  if (segment.no_text && !trusted && is_text_type(plain_type(mime_type))) mime_type = kUnknown;
  FileType type = decide_type(mime_type, sniffed, trusted);
  if (is_unknown(type.mime_type) && !about.label.empty()) type.label = about.label;
  segment.mime_type = type.mime_type.empty() ? std::string(kUnknown) : type.mime_type;
  if (!type.extension.empty() && (type.extension != "bin" || segment.extension.empty())) {
    segment.extension = type.extension;
  }
  // What was found to be text, in whatever encoding, knows more than a declared type of text, or
  // none.
  const bool declares = !is_text_type(type.mime_type) && !is_unknown(type.mime_type);
  const bool is_told =
      !declares && segment.description.substr(0, kTextLabel).find("text") != std::string::npos;
  if (unknown && !is_told) {
    Subject subject;
    subject.type = std::move(type);
    subject.size_bytes = segment.bytes;
    describe(subject, segment);
  }
}

void SegmentTable::declare(uint32_t index, std::string_view mime_type, bool trusted) {
  Segment& segment = segments_[index];
  About& about = abouts_[index];
  if (!mime_type.empty()) {
    about.declared = mime_type;
    about.trusted = trusted;
  }
  if (segment.kind == SegmentKind::run) {
    if (!mime_type.empty() || !about.label.empty()) {
      declare_bytes(segment, about, mime_type, trusted);
    }
  } else if (const std::string said = trusted ? std::string(mime_type) : plain_type(mime_type);
             is_text_type(said) && !segment.mangled) {
    const std::string extension = type_of_mime(said).extension;
    segment.mime_type = said;
    if (!extension.empty() && extension != "bin") segment.extension = extension;
  }
}

bool SegmentTable::keep_original(uint32_t index, std::string_view text) {
  if (!restores_) return true;
  const std::optional<uint32_t> kept = add_text(text);
  abouts_[index].original = kept;
  return kept.has_value();
}

void SegmentTable::hide(uint32_t index) {
  Segment& segment = segments_[index];
  std::string references;
  for (size_t at = 0; at < segment.preview.size(); ++at) {
    if (marker_at(segment.preview, at) < 0) continue;
    if (!references.empty()) references += ' ';
    references += segment.preview.substr(at, kMarkerBytes);
  }
  segment.preview = std::move(references);
  segment.excerpt = segment.preview;
  segment.error_excerpt.clear();
  segment.values.clear();
  segment.description.clear();
  segment.evidence.clear();
}

bool SegmentTable::ask_decode(uint32_t index, std::string_view known) {
  const Segment& segment = segments_[index];
  if (known.empty()) known = segment.preview;
  if (segment.kind != SegmentKind::text || !may_be_base64(known)) return false;
  decodes_.push_back({Task::Kind::decode,
                      index,
                      abouts_[index].declared,
                      filename(index),
                      {},
                      segments_[index].bytes});
  return true;
}

void SegmentTable::annotate(uint32_t index) {
  tasks_.push_back({Task::Kind::annotate,
                    index,
                    segments_[index].mime_type,
                    filename(index),
                    {},
                    segments_[index].bytes});
}

void SegmentTable::annotate() {
  for (uint32_t index = 0; index < size(); ++index) annotate(index);
  tasks_.insert(tasks_.end(), decodes_.begin(), decodes_.end());
}

void SegmentTable::stored(uint32_t index, Stored stored) {
  if (index >= size()) return;
  Segment& segment = segments_[index];
  // The store may know the content under a type that somebody else declared.
  if (const std::string type = plain_type(stored.mime_type); !type.empty()) {
    segment.mime_type = type;
  }
  stored.filename = clean_filename(stored.filename);
  if (stored.opaque) {
    segment.preview.clear();
    segment.excerpt.clear();
    segment.error_excerpt.clear();
    segment.values.clear();
    segment.description.clear();
  }
  abouts_[index].stored = std::move(stored);
}

void SegmentTable::decoded(uint32_t index, Segment record, bool exact) {
  if (index >= size()) return;
  if (!exact && restores_ && !abouts_[index].original) {
    abouts_[index].original = static_cast<uint32_t>(size());
    segments_.push_back(Segment(segments_[index]));
    abouts_.emplace_back().base = base();
  }
  record.kind = SegmentKind::run;
  record.whole = segments_[index].whole;
  record.bare = segments_[index].bare;
  record.chars = segments_[index].chars;
  if (record.mime_type.empty()) record.mime_type = kUnknown;
  segments_[index] = std::move(record);
  declare(index, abouts_[index].declared, abouts_[index].trusted);
  annotate(index);
}

std::string SegmentTable::filename(uint32_t index) const {
  const About& about = abouts_[index];
  if (!about.filename.empty()) return about.filename;
  const Segment& segment = segments_[index];
  std::string extension = segment.extension;
  if (extension.empty()) {
    extension =
        segment.kind == SegmentKind::text ? "txt" : type_of_mime(segment.mime_type).extension;
  }
  return extension.empty() ? about.base : about.base + "." + extension;
}

std::string SegmentTable::id(uint32_t index) const {
  const std::optional<Stored>& stored = abouts_[index].stored;
  return stored && !stored->id.empty() ? stored->id : "unstored";
}

// --- summary templates --------------------------------------------------

namespace {

/// The next `{name}` at or after `at`: its position and length with braces; npos if there is none.
std::pair<size_t, size_t> next_placeholder(std::string_view text, size_t at) {
  for (size_t open = text.find('{', at); open != std::string_view::npos;
       open = text.find('{', open + 1)) {
    const size_t stop = text.find_first_of("{}", open + 1);
    if (stop == std::string_view::npos) break;
    if (text[stop] == '}' && stop > open + 1) return {open, stop + 1 - open};
  }
  return {std::string_view::npos, 0};
}

std::string without_quotes(std::string_view quoted) {
  return std::string(quoted.substr(1, quoted.size() - 2));
}

/// Between single quotes, an apostrophe must not look like the end.
std::string curled(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "’";
    } else {
      out += c;
    }
  }
  return out;
}

std::string shown(const Value& value, char before, char behind) {
  if (value.trusted) return value.text;
  std::string quoted = quote_untrusted(value.text);
  if (before != behind || (before != '\'' && before != '"')) return quoted;
  std::string bare = without_quotes(quoted);
  return before == '\'' ? curled(bare) : bare;
}

}  // namespace

std::vector<std::string> placeholders(std::string_view text) {
  std::vector<std::string> names;
  for (auto [at, size] = next_placeholder(text, 0); size != 0;
       std::tie(at, size) = next_placeholder(text, at + size)) {
    std::string name(text.substr(at + 1, size - 2));
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  return names;
}

std::string expand_template(std::string_view text, const std::vector<Value>& values) {
  std::string out;
  size_t copied = 0;
  for (auto [at, size] = next_placeholder(text, 0); size != 0;
       std::tie(at, size) = next_placeholder(text, at + size)) {
    const std::string_view name = text.substr(at + 1, size - 2);
    const auto value = std::find_if(values.begin(), values.end(),
                                    [&](const Value& candidate) { return candidate.name == name; });
    if (value == values.end()) continue;
    const char before = at > 0 ? text[at - 1] : '\0';
    const char behind = at + size < text.size() ? text[at + size] : '\0';
    out += text.substr(copied, at - copied);
    out += shown(*value, before, behind);
    copied = at + size;
  }
  out += text.substr(copied);
  return out;
}

}  // namespace sluice::layers
