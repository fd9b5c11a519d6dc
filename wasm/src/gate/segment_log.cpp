#include "gate/segment_log.h"

#include <algorithm>

#include "describe/formats.h"
#include "describe/wide_text.h"
#include "sluice/segment.h"
#include "sluice/sniff.h"
#include "sluice/tape.h"
#include "text/ascii.h"

namespace sluice {

// --- events ----------------------------------------------------------------------------------

namespace {

void append_u32(std::string& out, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xFF);
}

}  // namespace

void append_event(std::string& log, EventKind kind, uint32_t segment, std::string_view payload) {
  append_u32(log, static_cast<uint32_t>(kind));
  append_u32(log, segment);
  append_u32(log, static_cast<uint32_t>(payload.size()));
  log += payload;
}

void append_reference_event(std::string& log, uint32_t segment, uint32_t inner) {
  std::string payload;
  append_u32(payload, inner);
  append_event(log, EventKind::reference, segment, payload);
}

void set_event_length(std::string& log, size_t at, uint32_t length) {
  for (size_t i = 0; i < 4; ++i) log[at + 8 + i] = static_cast<char>(length >> (8 * i) & 0xFF);
}

// --- segments --------------------------------------------------------------------------------

namespace gate {

namespace {

// Segments of a message whose lines are chosen by their kind; later ones show how they begin.
constexpr size_t kMaxExcerpts = 64;

// Bytes of the longest text that is compared with the other half of a result for an MCP client.
constexpr uint64_t kMaxCompared = 4 << 20;

// The share of damage above which a text was binary, and the share that is enough if it begins like
// a file.
constexpr uint64_t kMangledPercent = 10;
constexpr uint64_t kMangledPerThousandWithMagic = 5;

}  // namespace

// The kind of file that a mangled text was: as it is, or with each character up to U+00FF as one
// byte (Latin-1).
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

namespace {

// How far from a picture's end its last part may stand: programs write more behind it.
constexpr size_t kPictureEnd = 65'536;

// The last part that a picture has (PNG §5.6, ITU T.81 B.1.1.3); nothing for other files.
std::string_view last_part(std::string_view mime_type) {
  if (mime_type == "image/png") return "IEND";
  return mime_type == "image/jpeg" ? "\xff\xd9" : std::string_view();
}

}  // namespace

SegmentLog::Open& SegmentLog::open_segment(uint32_t index) {
  const auto found = std::find_if(open_.begin(), open_.end(),
                                  [index](const auto& open) { return open->index == index; });
  return **found;
}

uint32_t SegmentLog::open(SegmentKind kind, char delimiter) {
  const auto index = static_cast<uint32_t>(segments_.size());
  Segment& segment = segments_.emplace_back();
  segment.kind = kind;
  segment.bare = kind == SegmentKind::json;
  auto& open = *open_.emplace_back(std::make_unique<Open>());
  open.index = index;
  open.delimiter = delimiter;
  open.keeps = kind == SegmentKind::run && kept_ < options_.keep_count;
  append_event(events_, EventKind::open, index);
  record_ = kNoRecord;
  return index;
}

// The bytes after the head are left. A marker is either whole in it or not in it.
std::string_view SegmentLog::keep(Open& open, std::string_view bytes, bool uncut) {
  if (open.keeps && open.kept.size() + bytes.size() > options_.keep_bytes) {
    open.keeps = false;
    open.kept = std::string();
  }
  if (open.keeps) open.kept.append(bytes);
  const size_t left = kDescribeHead - std::min(open.head.size(), kDescribeHead);
  const size_t taken = uncut && left > 0 ? bytes.size() : std::min(left, bytes.size());
  open.head.append(bytes.substr(0, taken));
  return bytes.substr(taken);
}

// Bytes of a segment that follow one another are one record: the host pays for each.
void SegmentLog::continue_record(uint32_t index) {
  if (record_ != kNoRecord && recorded_ == index && !events_.empty()) return;
  record_ = events_.size();
  recorded_ = index;
  append_event(events_, EventKind::data, index);
}

void SegmentLog::data(uint32_t index, std::string_view bytes, bool sound) {
  if (bytes.empty()) return;
  continue_record(index);
  const size_t at = events_.size();
  events_ += bytes;
  end_record(index, at, sound);
}

uint8_t* SegmentLog::room(uint32_t index, size_t size) {
  continue_record(index);
  room_ = events_.size();
  events_.resize(room_ + size);
  return reinterpret_cast<uint8_t*>(events_.data()) + room_;
}

void SegmentLog::written(uint32_t index, size_t size, bool sound) {
  events_.resize(room_ + size);
  end_record(index, room_, sound);
}

void SegmentLog::end_record(uint32_t index, size_t at, bool sound) {
  if (at == events_.size()) {
    if (at > record_ + kEventHeader) return;
    events_.resize(record_);
    record_ = kNoRecord;
    return;
  }
  set_event_length(events_, record_,
                   static_cast<uint32_t>(events_.size() - record_ - kEventHeader));
  look(index, std::string_view(events_).substr(at), sound);
}

// A replacement character may lie across two pieces, so the seam is counted separately.
void SegmentLog::count_damaged(Open& open, std::string_view bytes, bool sound) {
  const std::string_view first = bytes.substr(0, 2);
  if (!sound) open.damaged += count_damage(bytes) - count_damage(first);
  open.damaged += count_damage(open.seam + std::string(first)) - count_damage(open.seam);
  open.seam.append(bytes.substr(bytes.size() - std::min<size_t>(bytes.size(), 2)));
  if (open.seam.size() > 2) open.seam.erase(0, open.seam.size() - 2);
}

// A text that begins with a bracket is compared as JSON, any other as the content of a string. An
// MCP client gets every text, so long ones are not compared there.
void SegmentLog::print(Open& open, const Segment& segment, std::string_view bytes) const {
  if (options_.protect && segment.bytes > kMaxCompared && open.compared) {
    open.compared = false;
    open.source.reset();
    open.content = {};
  }
  if (!open.compared) return;
  if (!open.begun) {
    const size_t first = bytes.find_first_not_of(kWhite);
    open.begun = first != std::string_view::npos;
    const bool like = open.begun && (bytes[first] == '{' || bytes[first] == '[');
    if (like || segment.kind == SegmentKind::json) open.source.emplace();
  }
  if (open.source) {
    open.source->push(bytes);
  } else {
    open.content.push(bytes);
  }
}

// Counts what passes by.
void SegmentLog::look(uint32_t index, std::string_view bytes, bool sound) {
  Open& open = open_segment(index);
  Segment& segment = segments_[index];
  segment.bytes += bytes.size();
  if (segment.kind == SegmentKind::text) count_damaged(open, bytes, sound);
  if (segment.kind != SegmentKind::run) print(open, segment, bytes);
  follow(open, segment, bytes);
}

// Keeps the head. It is recognised once kSniffHead bytes are there, however they arrive.
void SegmentLog::follow(Open& open, const Segment& segment, std::string_view bytes, bool uncut) {
  const size_t before = open.head.size();
  const std::string_view behind_head = keep(open, bytes, uncut);
  if (open.recognised) {
    if (open.text) open.text->push(as_bytes(bytes));
  } else if (open.head.size() >= kSniffHead) {
    recognise(open, segment);
    if (open.text) open.text->push(as_bytes(bytes.substr(kSniffHead - before)));
  }
  if (open.has_tail) open.tail.push(behind_head);
}

void SegmentLog::reference(uint32_t index, uint32_t inner) {
  append_reference_event(events_, index, inner);
  record_ = kNoRecord;
  Open& open = open_segment(index);
  Segment& segment = segments_[index];
  segment.inner.push_back(inner);
  segments_[inner].spelled = segments_[inner].spelling.size();
  open.begun = true;
  if (open.source) {
    open.source->refer(segments_[inner]);
  } else if (open.compared) {
    open.content.refer();
  }
  std::string marker;
  append_marker(marker, inner);
  follow(open, segment, marker, true);
}

// Finds the type of a segment's content, and what follows from it for a text or its end.
void SegmentLog::recognise(Open& open, const Segment& segment) const {
  const auto head = std::string_view(open.head).substr(0, kSniffHead);
  const bool run = segment.kind == SegmentKind::run;
  const bool json = segment.kind == SegmentKind::json;
  const bool readable = !run || is_text(head);
  const bool binary = !json && has_binary_magic(as_bytes(head));
  auto sniffed = json ? std::nullopt : sniff(as_bytes(head), options_.signatures);
  if (!sniffed && readable && (!run || segment.declared.empty())) {
    sniffed = type_of_mime("text/plain");
  }
  open.type = run ? decide_type(segment.declared, sniffed) : *sniffed;
  open.recognised = true;
  if (readable && !binary && (!run || !open.type.mime_type.starts_with("image/"))) {
    open.text.emplace(head, open.delimiter, json);
    open.has_tail = true;
    open.tail = Tail(kExcerptTail);
  } else {
    const std::string_view last = last_part(open.type.mime_type);
    open.has_tail =
        !last.empty() || wants_tail(as_bytes(head)) || find_wide_text(as_bytes(head)).has_value();
    if (!last.empty()) open.tail = Tail(kPictureEnd);
  }
}

void SegmentLog::close(uint32_t index) {
  Open& open = open_segment(index);
  Segment& segment = segments_[index];
  const uint64_t references = segment.inner.size() * kReferenceChars;
  segment.mangled =
      segment.kind == SegmentKind::text &&
      looks_mangled(open.head, open.damaged, segment.bytes + references, options_.signatures);
  if (!open.recognised) recognise(open, segment);
  const std::string tail = open.has_tail ? open.tail.finish(open.head) : std::string();
  if (segment.kind == SegmentKind::run && !open.text) {
    open.type = decide_type(segment.declared, sniff(as_bytes(open.head), as_bytes(tail),
                                                    segment.bytes, options_.signatures));
    segment.no_text = is_no_text(as_bytes(open.head));
    if (segment.no_text && is_text_type(open.type.mime_type)) {
      open.type = type_of_mime("application/octet-stream");
    }
  }
  Subject subject;
  subject.type = segment.mangled                     ? type_of_mime("text/plain")
                 : segment.kind == SegmentKind::json ? type_of_mime("application/json")
                                                     : std::move(open.type);
  subject.text = open.text.has_value();
  subject.size_bytes = segment.bytes;
  subject.head = as_bytes(open.head);
  subject.tail = as_bytes(tail);
  const FileType declared = subject.type;
  if (open.text) open.text->tell(subject);
  const FileType& type = segment.declared.empty() ? subject.type : declared;
  segment.mime_type = type.mime_type;
  segment.extension = type.extension;
  if (segment.kind != SegmentKind::run) {
    const bool json = segment.kind == SegmentKind::json;
    const size_t most = std::min(json ? options_.previews_chars : options_.preview_chars,
                                 options_.previews_chars - previewed_);
    const size_t limit = std::max(most, kPreviewChars);
    segment.preview = preview(open.head, limit);
    segment.previewed_whole =
        open.head.size() == segment.bytes + segment.inner.size() * kMarkerBytes &&
        count_chars(open.head) + segment.inner.size() * (kReferenceChars - kMarkerBytes) <= limit;
    if (is_private_key(std::string_view(open.head).substr(0, kSniffHead))) {
      segment.preview.clear();
      segment.previewed_whole = false;
    }
    previewed_ += std::min(count_chars(segment.preview), most);
    if (open.source) {
      segment.source_print = open.source->finish();
    } else {
      segment.content_print = open.content.finish();
    }
  }
  const std::string_view last = subject.text ? "" : last_part(subject.type.mime_type);
  const bool lacks_end = !last.empty() && tail.find(last) == tail.npos;
  const bool cut = segment.cut && !subject.text;
  if (segment.mangled || cut) {
    const auto was =
        cut ? std::optional(subject.type) : sniff_mangled(open.head, options_.signatures);
    segment.description =
        (was ? was->label : std::string("binary data")) +
        (cut ? " without its end, which the tool left out, " : " damaged by a text decoder, ") +
        human_size(segment.bytes);
    segment.preview.clear();
    if (cut) {
      segment.mime_type = "application/octet-stream";
      segment.extension = "bin";
    }
  } else {
    describe(subject, segment);
    if (lacks_end) segment.description += ", without its end";
    if (excerpts_ < kMaxExcerpts) {
      add_excerpts(subject, segment);
      ++excerpts_;
    } else if (segment.kind != SegmentKind::run) {
      segment.excerpt = segment.preview;
    }
  }
  if (open.keeps && segment.mime_type.rfind("image/", 0) == 0) {
    segment.kept = std::move(open.kept);
    ++kept_;
  }
  append_event(events_, EventKind::close, index);
  record_ = kNoRecord;
  std::erase_if(open_, [index](const auto& item) { return item->index == index; });
}

}  // namespace gate

}  // namespace sluice
