#include "layers/ledger.h"

#include "layers/filename.h"
#include "sluice/describe.h"
#include "sluice/sniff.h"
#include "sluice/tape.h"

namespace sluice::layers {

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

bool is_text_type(std::string_view mime_type) {
  const std::string_view bare = mime_type.substr(0, mime_type.find(';'));
  if (bare.starts_with("text/") || bare.ends_with("+json") || bare.ends_with("+xml")) return true;
  for (const std::string_view type : {"json", "xml", "yaml", "x-yaml", "javascript", "x-ndjson",
                                      "jsonl", "sql", "graphql", "toml", "x-sh", "rtf"}) {
    if (bare.starts_with("application/") && bare.substr(12) == type) return true;
  }
  return false;
}

Ledger::Ledger(const Config& config, const Call& call, std::vector<Segment> segments)
    : config_(config),
      base_(clean_filename(call.tool)),
      given_(segments.size()),
      segments_(std::move(segments)) {
  if (base_.empty()) base_ = "artifact";
  for (Segment& segment : segments_) {
    if (segment.mime_type.empty()) segment.mime_type = default_type(segment.kind);
    abouts_.emplace_back().base = base_;
  }
}

std::optional<uint32_t> Ledger::add(Segment segment, std::string_view bytes) {
  if (size() - given_ >= kMaxAdded || size() >= kMaxSegments) return std::nullopt;
  const auto index = static_cast<uint32_t>(size());
  segment.whole = true;
  segment.bytes = bytes.size();
  segments_.push_back(std::move(segment));
  abouts_.emplace_back().base = base_;
  append_event(events_, EventKind::open, index);
  append_event(events_, EventKind::data, index, bytes);
  append_event(events_, EventKind::close, index);
  return index;
}

std::optional<uint32_t> Ledger::add_bytes(const Payload& payload, std::string_view source) {
  const Bytes bytes = as_bytes(payload.bytes);
  const Bytes head = bytes.first(std::min(bytes.size(), kDescribeHead));
  const std::optional<FileType> sniffed =
      sniff(head.first(std::min(head.size(), kSniffHead)), config_.binary_detection.signatures);
  FileType type = sniffed ? *sniffed : type_of_mime(kUnknown);
  Segment segment;
  segment.form = payload.form;
  segment.chars = count_chars(source);
  segment.mime_type = type.mime_type;
  segment.extension = type.extension;
  Subject subject;
  subject.type = std::move(type);
  subject.size_bytes = payload.bytes.size();
  subject.head = head;
  subject.tail = bytes.last(std::min(bytes.size(), kDescribeTail));
  segment.description = describe(subject);
  if (segment.mime_type.starts_with("image/") &&
      payload.bytes.size() <= config_.inline_media.max_bytes) {
    segment.kept = payload.bytes;
  }
  return add(std::move(segment), payload.bytes);
}

std::optional<uint32_t> Ledger::add_text(std::string_view text) {
  Subject subject;
  subject.type = type_of_mime(default_type(SegmentKind::text));
  subject.size_bytes = text.size();
  subject.head = as_bytes(text.substr(0, kDescribeHead));
  subject.text = true;
  const FileType type = subject.type;
  tell_text(text, subject);
  Segment segment;
  segment.kind = SegmentKind::text;
  segment.chars = count_chars(text);
  segment.mime_type = type.mime_type;
  segment.extension = type.extension;
  segment.description = describe(subject);
  segment.preview = preview(text);
  return add(std::move(segment), text);
}

void Ledger::declare_bytes(Segment& segment, const About& about, std::string_view mime_type) {
  const bool unknown = is_unknown(segment.mime_type);
  std::optional<FileType> sniffed;
  if (!unknown) sniffed = type_of_mime(segment.mime_type);
  if (sniffed && !segment.extension.empty()) sniffed->extension = segment.extension;
  FileType type = decide_type(mime_type, sniffed);
  if (is_unknown(type.mime_type) && !about.label.empty()) type.label = about.label;
  segment.mime_type = type.mime_type.empty() ? std::string(kUnknown) : type.mime_type;
  if (!type.extension.empty()) segment.extension = type.extension;
  if (unknown) {
    Subject subject;
    subject.type = std::move(type);
    subject.size_bytes = segment.bytes;
    segment.description = describe(subject);
  }
}

void Ledger::declare(uint32_t index, std::string_view mime_type) {
  Segment& segment = segments_[index];
  About& about = abouts_[index];
  if (!mime_type.empty()) about.declared = mime_type;
  if (segment.kind == SegmentKind::run) {
    if (!mime_type.empty() || !about.label.empty()) declare_bytes(segment, about, mime_type);
  } else if (is_text_type(mime_type) && !segment.mangled) {
    const FileType type = type_of_mime(mime_type);
    segment.mime_type = mime_type;
    if (!type.extension.empty() && type.extension != "bin") segment.extension = type.extension;
  }
}

void Ledger::ask_decode(uint32_t index) {
  if (segments_[index].kind != SegmentKind::text || !looks_encoded(segments_[index].preview))
    return;
  decodes_.push_back({Task::Kind::decode,
                      index,
                      abouts_[index].declared,
                      filename(index),
                      {},
                      segments_[index].bytes});
}

void Ledger::annotate(uint32_t index) {
  tasks_.push_back({Task::Kind::annotate,
                    index,
                    segments_[index].mime_type,
                    filename(index),
                    {},
                    segments_[index].bytes});
}

void Ledger::annotate() {
  for (uint32_t index = 0; index < size(); ++index) annotate(index);
  tasks_.insert(tasks_.end(), decodes_.begin(), decodes_.end());
}

void Ledger::stored(uint32_t index, Stored stored) {
  if (index >= size()) return;
  Segment& segment = segments_[index];
  if (!stored.mime_type.empty()) segment.mime_type = stored.mime_type;
  if (stored.opaque) {
    segment.preview.clear();
    segment.description.clear();
  }
  abouts_[index].stored = std::move(stored);
}

void Ledger::decoded(uint32_t index, Segment record) {
  if (index >= size()) return;
  record.kind = SegmentKind::run;
  record.whole = segments_[index].whole;
  record.bare = segments_[index].bare;
  record.chars = segments_[index].chars;
  if (record.mime_type.empty()) record.mime_type = kUnknown;
  segments_[index] = std::move(record);
  declare(index, abouts_[index].declared);
  annotate(index);
}

std::string Ledger::filename(uint32_t index) const {
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

std::string Ledger::id(uint32_t index) const {
  const std::optional<Stored>& stored = abouts_[index].stored;
  return stored && !stored->id.empty() ? stored->id : "unstored";
}

}  // namespace sluice::layers
