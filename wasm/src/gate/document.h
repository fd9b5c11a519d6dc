// The reduced document while it grows: text with markers, and what must leave it again.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gate/member.h"
#include "gate/segment_log.h"
#include "sluice/gate.h"

namespace sluice::gate {

/// The end of a string's text that stays within reach: a prefix such as `data:image/png;base64,`
/// may still be taken back from it.
inline constexpr size_t kReach = 256;

/// Characters of one message that are protected at most. Beyond them nothing is special.
inline constexpr uint64_t kMaxProtected = uint64_t{8} << 20;

/// Containers inside each other that are followed at most, a bit for each.
inline constexpr size_t kMaxDepth = 1'000'000;

/// Receives the source of a document piece by piece. Strings that grow past the inline limit move
/// into text segments, sub-trees that make the document too large into JSON segments; both then
/// stream by. What is decided depends on the bytes alone, never on how they are cut into pieces.
class Document {
 public:
  Document(const GateOptions& options, SegmentLog& log) : options_(options), log_(log) {}

  /// Characters that stay, known as soon as they are passed; their source may follow later.
  void count(uint64_t chars) {
    if (protecting_) return spend(chars);
    chars_ += collapsed() ? 0 : chars;
  }
  /// Source outside of strings that may hold something, already counted.
  void source(std::string_view text);
  /// A container begins with the source that follows, or ended with the source so far. What is
  /// deeper than the options allow streams into a segment.
  void open_container(bool object);
  void close_container();
  /// Whether the document is too large; looked at whenever a value is complete.
  bool overflows() const {
    return chars_ > options_.max_document_chars && options_.divert_text && !collapsed() &&
           !protecting_;
  }
  /// Takes sub-trees out until it is not.
  void shrink();

  /// A key follows the source so far, a short one without escapes; other keys are seen as they
  /// close. From a protected member's key to the end of its value nothing is taken out or counted.
  void open_member(Member member) { open_member(member, out_.size()); }
  bool protecting() const { return protecting_; }
  /// Of the innermost open container.
  Place place() const { return deep_.empty() ? frames_.back().place : Place::elsewhere; }
  /// The protected member's value begins with this byte.
  void open_protected(uint8_t first);
  /// Whether the value that ended is the protected member's; then, with its source, it is closed.
  bool ends_member() const { return protecting_ && frames_.size() == protect_depth_; }
  void close_member();

  void open_string();
  /// Source of the open string, cut inside no escape.
  void text(const uint8_t* at, const uint8_t* end);
  void close_string(bool key);

  /// What stands before the next byte of the open string, as source; at most kReach bytes of it.
  std::string_view behind() const;
  /// The unfinished document's last bytes, structure included; at most kReach.
  std::string_view tail() const;
  /// Takes `prefix` bytes back from the open string: a run begins there. False when the cap on
  /// segments is reached and the run has to stay what it is.
  bool admits_run();
  void take_back(size_t prefix);
  /// The marker of a run stands here, in the open string or, quotes added, as a value.
  void mark(uint32_t segment);
  void mark_value(uint32_t segment);

  /// Lets go of all bytes that no later decision can need.
  void flush();

  size_t depth() const { return frames_.size() + deep_.size(); }
  bool in_object() const {
    if (!deep_.empty()) return deep_.back();
    return !frames_.empty() && frames_.back().object;
  }
  const std::string& out() const { return out_; }

 private:
  // A closed sub-tree that alone makes up half of what a document may hold.
  struct Candidate {
    size_t begin = 0;
    size_t end = 0;
    uint64_t chars = 0;
    bool valid = false;
    bool body = false;
  };
  struct Frame {
    bool object = false;
    bool body = false;  // the document, or its `result`
    Place place = Place::elsewhere;
    size_t begin = 0;    // in out_
    uint64_t chars = 0;  // of the document before it
    uint32_t extracted = 0;
    Candidate candidate;
  };

  bool collapsed() const { return json_ >= 0; }
  void check_string(uint64_t limit);
  void start_text();
  void end_text();
  bool is_mangled() const;
  void mark_if_whole();
  void extract(Frame& frame);
  void collapse(size_t frame);
  void end_collapse(bool body);
  size_t max_segments() const;
  bool keeps_root() const;
  void saturate();
  void open_member(Member member, size_t begin);
  void name_member();
  Place place_within(bool object) const;
  void spend(uint64_t chars);
  size_t text_cut() const;
  size_t reach_cut() const;
  void emit(uint32_t segment, std::string_view source, bool undo_escapes);

  const GateOptions& options_;
  SegmentLog& log_;
  std::string out_;
  std::vector<Frame> frames_;
  std::vector<bool> deep_;  // containers inside those, all of a sub-tree that streams; true: object
  uint64_t chars_ = 0;      // of the document, what was collapsed counted as a reference

  int64_t json_ = -1;  // the segment a sub-tree streams into
  size_t json_frame_ = 0;
  size_t json_begin_ = 0;

  bool in_string_ = false;
  size_t string_begin_ = 0;
  uint64_t string_chars_ = 0;
  uint64_t string_source_ = 0;  // characters of source, runs included
  bool stays_plain_ = false;    // the string may no longer become a text segment
  int64_t text_ = -1;           // the segment a string streams into
  size_t text_begin_ = 0;

  bool envelope_ = false;          // a JSON-RPC message
  Place next_ = Place::elsewhere;  // of the value behind the last key
  bool protecting_ = false;
  bool wants_array_ = false;  // or the member is not protected after all
  size_t protect_begin_ = 0;  // of the member in out_
  size_t protect_depth_ = 0;  // frames around it
  uint64_t unspent_ = kMaxProtected;
  std::array<std::string, 2> members_;  // source of those protected, by the depth of their body
};

}  // namespace sluice::gate
