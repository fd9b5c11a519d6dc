#include "gate/segment_log.h"

#include <algorithm>

#include "sluice/sniff.h"
#include "sluice/tape.h"

namespace sluice::gate {

namespace {

// Share of damage above which a text was binary, and the share that suffices when it begins like a
// file.
constexpr uint64_t kMangledPercent = 10;
constexpr uint64_t kMangledPerThousandWithMagic = 5;

}  // namespace

// The kind of file a mangled text was: as it stands, or with each character up to U+00FF one byte
// (Latin-1).
std::optional<FileType> sniff_mangled(std::string_view head,
                                      const std::vector<Signature>& signatures) {
  head = head.substr(0, kSniffHead);
  auto type = sniff(as_bytes(head), signatures);
  if (type) return type;
  std::string bytes;
  for (size_t i = 0; i < head.size(); ++i) {
    const auto lead = static_cast<uint8_t>(head[i]);
    const bool pair = (lead == 0xC2 || lead == 0xC3) && i + 1 < head.size();
    bytes += pair ? static_cast<char>((lead & 3) << 6 | (head[++i] & 0x3F)) : head[i];
  }
  return sniff(as_bytes(bytes), signatures);
}

bool looks_mangled(std::string_view head, uint64_t damage, uint64_t size,
                   const std::vector<Signature>& signatures) {
  if (damage == 0 || size == 0) return false;
  if (damage * 100 >= size * kMangledPercent) return true;
  return damage * 1000 >= size * kMangledPerThousandWithMagic &&
         sniff_mangled(head, signatures).has_value();
}

SegmentLog::Open& SegmentLog::open_segment(uint32_t index) {
  const auto found = std::find_if(open_.begin(), open_.end(),
                                  [index](const auto& open) { return open->index == index; });
  return **found;
}

uint32_t SegmentLog::open(SegmentKind kind) {
  const auto index = static_cast<uint32_t>(segments_.size());
  Segment& segment = segments_.emplace_back();
  segment.kind = kind;
  segment.bare = kind == SegmentKind::json;
  auto& open = *open_.emplace_back(std::make_unique<Open>());
  open.index = index;
  open.keeps = kind == SegmentKind::run && kept_ < options_.keep_count;
  append_event(events_, EventKind::open, index);
  return index;
}

void SegmentLog::keep(Open& open, std::string_view bytes) {
  if (open.head.size() < kDescribeHead) {
    open.head.append(bytes.substr(0, kDescribeHead - open.head.size()));
  }
  if (!open.keeps) return;
  if (open.kept.size() + bytes.size() > options_.keep_bytes) {
    open.keeps = false;
    open.kept = std::string();
  } else {
    open.kept.append(bytes);
  }
}

void SegmentLog::data(uint32_t index, std::string_view bytes) {
  if (bytes.empty()) return;
  append_event(events_, EventKind::data, index, bytes);
  look(index, bytes);
}

uint8_t* SegmentLog::room(uint32_t index, size_t size) {
  room_ = events_.size();
  append_event(events_, EventKind::data, index);
  events_.resize(events_.size() + size);
  return reinterpret_cast<uint8_t*>(events_.data()) + room_ + kEventHeader;
}

void SegmentLog::written(uint32_t index, size_t size) {
  events_.resize(room_ + kEventHeader + size);
  set_event_length(events_, room_, static_cast<uint32_t>(size));
  look(index, std::string_view(events_).substr(room_ + kEventHeader));
}

// A replacement character may lie across two pieces: the seam is counted for itself.
void SegmentLog::count_damaged(Open& open, std::string_view bytes) {
  const std::string_view first = bytes.substr(0, 2);
  open.damaged += count_damage(bytes) + count_damage(open.seam + std::string(first)) -
                  count_damage(open.seam) - count_damage(first);
  open.seam.append(bytes.substr(bytes.size() - std::min<size_t>(bytes.size(), 2)));
  if (open.seam.size() > 2) open.seam.erase(0, open.seam.size() - 2);
}

// What passes by is counted, and its head kept.
void SegmentLog::look(uint32_t index, std::string_view bytes) {
  Open& open = open_segment(index);
  Segment& segment = segments_[index];
  keep(open, bytes);
  segment.bytes += bytes.size();
  if (segment.kind == SegmentKind::run) return;
  open.outline.push(as_bytes(bytes));
  if (segment.kind == SegmentKind::text) count_damaged(open, bytes);
}

void SegmentLog::reference(uint32_t index, uint32_t inner) {
  const char payload[4] = {static_cast<char>(inner & 0xFF), static_cast<char>(inner >> 8 & 0xFF),
                           static_cast<char>(inner >> 16 & 0xFF), static_cast<char>(inner >> 24)};
  append_event(events_, EventKind::reference, index, {payload, 4});
}

// The type of a segment's content, and whether it is text.
void SegmentLog::recognise(const Open& open, Segment& segment, FileType& type, bool& text) const {
  const Bytes head = as_bytes(std::string_view(open.head).substr(0, kSniffHead));
  auto sniffed =
      segment.kind == SegmentKind::json ? std::nullopt : sniff(head, options_.signatures);
  const bool readable = is_text(as_text(head));
  if (!sniffed && segment.kind == SegmentKind::run && readable && segment.declared.empty()) {
    sniffed = type_of_mime("text/plain");
  }
  if (segment.kind == SegmentKind::run) {
    type = decide_type(segment.declared, sniffed);
    text = readable && type.mime_type.rfind("image/", 0) != 0;
    return;
  }
  type = sniffed && !segment.mangled ? *sniffed : type_of_mime("text/plain");
  text = true;
}

void SegmentLog::close(uint32_t index) {
  Open& open = open_segment(index);
  Segment& segment = segments_[index];
  segment.mangled = segment.kind == SegmentKind::text &&
                    looks_mangled(open.head, open.damaged, segment.bytes, options_.signatures);
  Subject subject;
  recognise(open, segment, subject.type, subject.text);
  if (segment.kind != SegmentKind::run) {
    subject.outline = open.outline.finish();
    if (segment.kind == SegmentKind::json || !subject.outline.empty()) {
      subject.type = type_of_mime("application/json");
    }
    segment.preview = preview(open.head);
  }
  subject.size_bytes = segment.bytes;
  subject.head = as_bytes(open.head);
  subject.complete = open.head.size() == segment.bytes;
  segment.mime_type = subject.type.mime_type;
  segment.extension = subject.type.extension;
  if (segment.mangled) {
    const auto was = sniff_mangled(open.head, options_.signatures);
    segment.description = (was ? was->label : std::string("binary data")) +
                          " damaged by a text decoder, " + human_size(segment.bytes);
    segment.preview.clear();
  } else {
    segment.description = describe(subject);
  }
  if (open.keeps && segment.mime_type.rfind("image/", 0) == 0) {
    segment.kept = std::move(open.kept);
    ++kept_;
  }
  append_event(events_, EventKind::close, index);
  std::erase_if(open_, [index](const auto& item) { return item->index == index; });
}

}  // namespace sluice::gate
