// Documents of many small values: which sub-tree goes, and how it streams by. Part of Document.
#include <algorithm>

#include "gate/document.h"
#include "text/ascii.h"

namespace sluice::gate {

namespace {

// How many sub-trees are taken out of one container before the container itself goes.
constexpr uint32_t kMaxExtracted = 8;

// Extra segments beyond the limit, for the members of an envelope.
constexpr size_t kSpare = 16;

}  // namespace

void Document::open_container(bool object) {
  if (opens_deep()) {
    deep_.push_back(object);
    return;
  }
  const Place place = place_within(object);
  const bool body = place == Place::result && frames_.size() < members_.size();
  if (body) members_[frames_.size()].clear();
  next_ = Place::elsewhere;
  frames_.push_back({object, body, place, out_.size(), chars_, 0, {}});
  if (has_fields_) {
    frames_.back().name = path_.size();
    follow(object ? "" : "0");
  }
  series_.count = 0;
  if (place == Place::structured && structured_ == 0) {
    structured_ = frames_.size() - 1;
    set_bound();
  }
  if (frames_.size() <= options_.max_depth) return;
  protecting_ = false;
  if (collapsed()) return;
  if (log_.size() < max_segments()) {
    collapse(frames_.size() - 1);
  } else {
    saturate();
  }
}

void Document::close_container() {
  if (is_deep()) {
    deep_.pop_back();
    return;
  }
  const Frame frame = frames_.back();
  const uint64_t least = least_subtree();
  frames_.pop_back();
  if (has_fields_) path_.resize(frame.name);
  if (structured_ > 0 && frames_.size() <= structured_) {
    structured_ = 0;
    set_bound();
  }
  if (collapsed()) {
    if (frames_.size() == json_frame_ && level_ == 0) end_collapse(frame.body);
    return;
  }
  series_.count = 0;
  const uint64_t chars = chars_ - frame.chars;
  if (frames_.empty() || chars < least) return;
  Candidate& candidate = frames_.back().candidate;
  candidate = frame.candidate.valid ? frame.candidate
                                    : Candidate{frame.begin, out_.size(), chars, true, frame.body};
}

// How long a document may be; and the value of `structuredContent`, which stands in a text block
// beside it too.
void Document::set_bound() {
  bound_ = options_.divert_text ? options_.max_document_chars : UINT64_MAX;
  if (structured_ == 0 || !options_.divert_text) return;
  bound_ = std::min<uint64_t>(bound_, frames_[structured_].chars + options_.max_inline_size);
}

// Half of a document, or a quarter of a value that stands in a text as well: there strings that
// stay may be most of it.
uint64_t Document::least_subtree() const {
  return structured_ > 0 ? options_.max_inline_size / 4 : options_.max_document_chars / 2;
}

// Finds the sub-tree to take out: descends from the root while one child holds so much of the
// document. That is the smallest that helps. JSON in a text may be a file, which is edited and put
// back as a whole.
void Document::shrink() {
  while (overflows() && !frames_.empty()) {
    if (level_ > 0) return collapse(0);
    if (log_.size() >= max_segments()) {
      saturate();
      return;
    }
    if (take_texts()) continue;
    const size_t root = chars_ > options_.max_document_chars ? 0 : structured_;
    const uint64_t least = least_subtree();
    size_t deepest = frames_.size() - 1;
    while (deepest > root && chars_ - frames_[deepest].chars < least) --deepest;
    Frame& frame = frames_[deepest];
    if (!frame.candidate.valid || frame.extracted >= kMaxExtracted) {
      if (deepest > 0 || !keeps_root()) collapse(deepest);
      return;
    }
    extract(frame);
  }
}

// Takes a closed sub-tree out of the text that is still here.
void Document::extract(Frame& frame) {
  Candidate candidate = frame.candidate;
  candidate.end = take_named(candidate.begin, candidate.end);
  const uint32_t index = log_.open(SegmentKind::json);
  emit(index, std::string_view(out_).substr(candidate.begin, candidate.end - candidate.begin),
       false);
  Segment& segment = log_.segment(index);
  segment.whole = true;
  segment.chars = candidate.chars;
  if (candidate.body) segment.members = members_[1];
  log_.close(index);
  std::string marker = "\"";
  append_marker(marker, index);
  marker += '"';
  out_.replace(candidate.begin, candidate.end - candidate.begin, marker);
  close_gap(candidate.begin, candidate.end - candidate.begin - marker.size(),
            candidate.chars - std::min(candidate.chars, kReferenceChars));
  frame.candidate.valid = false;
  ++frame.extracted;
}

// Fewer bytes and characters stand behind a place than stood there.
void Document::close_gap(size_t place, size_t bytes, uint64_t chars) {
  chars_ -= chars;
  for (Frame& frame : frames_) {
    Candidate& candidate = frame.candidate;
    candidate.valid = candidate.valid && (candidate.begin > place || candidate.end <= place);
    if (candidate.begin > place) {
      candidate.begin -= bytes;
      candidate.end -= bytes;
    }
    if (frame.begin <= place) continue;
    frame.begin -= bytes;
    frame.chars -= chars;
  }
  for (Named& named : named_) named.begin -= named.begin > place ? bytes : 0;
  set_bound();
}

// The container's source streams into a segment from here on; in a text that of all of it.
void Document::collapse(size_t frame) {
  if (level_ > 0) frame = 0;
  take_named(level_ > 0 ? 0 : frames_[frame].begin, out_.size());
  json_ = log_.open(SegmentKind::json);
  json_frame_ = frame;
  json_begin_ = level_ > 0 ? 0 : frames_[frame].begin;
  chars_ = frames_[frame].chars;
}

void Document::end_collapse(bool body) {
  const auto index = static_cast<uint32_t>(json_);
  emit(index, std::string_view(out_).substr(json_begin_), false);
  out_.resize(json_begin_);
  Segment& segment = log_.segment(index);
  segment.whole = true;
  segment.chars = segment.bytes;
  if (body) segment.members = members_[json_frame_];
  log_.close(index);
  json_ = -1;
  if (series_.is_long()) {
    segment.description = "JSON, " + human_size(segment.bytes) + ": array of " +
                          grouped(series_.count) + " numbers from " + series_.least + " to " +
                          series_.greatest + ", the first " + series_.first;
    segment.excerpt.clear();
  }
  series_.count = 0;
  mark_value(index);
}

// An envelope may use a few more segments than its result.
size_t Document::max_segments() const {
  return options_.max_segments + (envelope_ && frames_.size() == 1 ? kSpare : 0);
}

// A response without its id answers nothing, so an envelope stays as long as something protected
// would.
bool Document::keeps_root() const {
  return envelope_ && chars_ <= options_.max_document_chars + kMaxProtected;
}

// The limit of segments is reached, so the outermost containers stay as they are.
void Document::saturate() {
  if (collapsed() || frames_.empty()) return;
  const bool inside = frames_.size() > 1 && (envelope_ || frames_[1].body) &&
                      log_.size() < options_.max_segments + kSpare;
  collapse(inside ? 1 : 0);
}

}  // namespace sluice::gate
