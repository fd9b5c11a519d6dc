// Documents of many small values: which sub-tree goes, and how it streams by (part of Document).
#include <algorithm>

#include "gate/document.h"

namespace sluice::gate {

namespace {

// Sub-trees taken out of one container before the container itself goes.
constexpr uint32_t kMaxExtracted = 8;

// Segments beyond the cap, for the members of an envelope.
constexpr size_t kSpare = 16;

}  // namespace

void Document::open_container(bool object) {
  if (frames_.size() > options_.max_depth) {
    deep_.push_back(object);
    return;
  }
  const Place place = place_within(object);
  const bool body = place == Place::result && frames_.size() < members_.size();
  if (body) members_[frames_.size()].clear();
  next_ = Place::elsewhere;
  frames_.push_back({object, body, place, out_.size(), chars_, 0, {}});
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
  if (!deep_.empty()) {
    deep_.pop_back();
    return;
  }
  const Frame frame = frames_.back();
  frames_.pop_back();
  if (collapsed()) {
    if (frames_.size() == json_frame_) end_collapse(frame.body);
    return;
  }
  const uint64_t chars = chars_ - frame.chars;
  if (frames_.empty() || chars < options_.max_document_chars / 2) return;
  Candidate& candidate = frames_.back().candidate;
  candidate = frame.candidate.valid ? frame.candidate
                                    : Candidate{frame.begin, out_.size(), chars, true, frame.body};
}

// The sub-tree to go is found by descending from the root as long as one child holds at least half
// of what a document may hold: the smallest that helps.
void Document::shrink() {
  while (overflows() && !frames_.empty()) {
    if (log_.size() >= max_segments()) {
      saturate();
      return;
    }
    size_t deepest = frames_.size() - 1;
    while (deepest > 0 && chars_ - frames_[deepest].chars < options_.max_document_chars / 2)
      --deepest;
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
  const Candidate candidate = frame.candidate;
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
  const size_t bytes = candidate.end - candidate.begin - marker.size();
  const uint64_t chars = candidate.chars - std::min(candidate.chars, kReferenceChars);
  chars_ -= chars;
  for (Frame& later : frames_) {
    if (later.begin < candidate.end) continue;
    later.begin -= bytes;
    later.chars -= chars;
  }
  frame.candidate.valid = false;
  ++frame.extracted;
}

// From here on the container's source streams into a segment.
void Document::collapse(size_t frame) {
  json_ = log_.open(SegmentKind::json);
  json_frame_ = frame;
  json_begin_ = frames_[frame].begin;
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
  mark_value(index);
}

// An envelope has room for a few more beside what its result holds.
size_t Document::max_segments() const {
  return options_.max_segments + (envelope_ && frames_.size() == 1 ? kSpare : 0);
}

// Without its id a response answers nothing, so an envelope stays as long as anything protected
// would.
bool Document::keeps_root() const {
  return envelope_ && chars_ <= options_.max_document_chars + kMaxProtected;
}

// The cap on segments is reached: what encloses everything goes as it is.
void Document::saturate() {
  if (collapsed() || frames_.empty()) return;
  const bool inside = frames_.size() > 1 && (envelope_ || frames_[1].body) &&
                      log_.size() < options_.max_segments + kSpare;
  collapse(inside ? 1 : 0);
}

}  // namespace sluice::gate
