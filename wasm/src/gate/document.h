// The reduced document while it grows: text with markers, the decisions about what leaves it again,
// and the members that pass unchanged.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gate/segment_log.h"
#include "json/spelling.h"
#include "sluice/gate.h"

namespace sluice::gate {

/// The meaning of a key. An interceptor passes on unchanged the `fixed` members of a result, `meta`
/// wherever MCP allows it, and `icons` everywhere.
enum class Member : uint8_t {
  other,
  jsonrpc,
  result,
  blocks,    ///< `content`, `messages`
  entries,   ///< `contents`, `tools`, `resources`, `resourceTemplates`, `prompts`, `tasks`, `task`,
             ///< `roots`
  resource,  ///< of an embedded resource
  structured,  ///< `structuredContent`
  icons,
  meta,   ///< `_meta`
  fixed,  ///< `requestState`, `inputRequests`, `inputResponses`, `nextCursor`, `resultType`
};

/// The position of a container in a message (MCP 2025-11-25 and 2026-07-28).
enum class Place : uint8_t {
  elsewhere,
  result,      ///< the document, its `result`, and the result of a task in there
  blocks,      ///< an array of blocks
  block,       ///< a content block, or a message, which holds some
  entries,     ///< an array of entries
  entry,       ///< a resource, tool, prompt, task …
  structured,  ///< the value of `structuredContent`
};

/// Whether members have a meaning in a container there.
inline bool has_meaning(Place place) {
  return place != Place::elsewhere && place != Place::structured;
}

/// Source bytes of the longest name with each character written as `\\u0061`.
inline constexpr size_t kMaxMemberSource = 17 * 6;

/// The meaning of a key in an object at `place`.
Member member_named(std::string_view name, Place place);

/// The place of the value of a member in an object at `place`. For blocks and entries that is an
/// array or a single one.
Place place_of(Member member, Place place);

/// The place of an object, given the place of its array or the result of `place_of`.
Place place_of_object(Place place);

/// Whether MCP defines this member for an object at `place` and it has to pass unchanged.
bool is_protected(Member member, Place place);

/// How much of the end of a string stays accessible: a prefix such as `data:image/png;base64,` may
/// still be taken back from it.
inline constexpr size_t kReach = 256;

/// How many characters of one message are protected. After that nothing is special.
inline constexpr uint64_t kMaxProtected = uint64_t{8} << 20;

class Inner;

/// The field of a text of a block, which leaves only if all of them are too large together.
inline constexpr uint32_t kBlockText = UINT32_MAX;

/// A longer array of numbers, most of which have four or more decimals, leaves a document.
inline constexpr uint64_t kLongestSeries = 256;

/// Maximum nesting that is followed, one bit per container.
inline constexpr size_t kMaxDepth = 1'000'000;

/// Receives the source of a document piece by piece. Strings longer than the inline limit move into
/// text segments, and sub-trees that make the document too large move into JSON segments; both then
/// stream on. Decisions depend only on the bytes, not on how they are cut into pieces.
class Document {
 public:
  /// `level`: strings around the document, which is the text of the innermost. `fields`: places in
  /// it may be those that the options name.
  Document(const GateOptions& options, SegmentLog& log, uint32_t level = 0, bool fields = true);
  ~Document();

  /// Counts characters that stay. Their source may follow later.
  void count(uint64_t chars) {
    if (protecting_) return spend(chars);
    chars_ += collapsed() ? 0 : chars;
  }
  /// Appends source outside of strings. It has been counted already.
  void source(std::string_view text);
  /// A container begins with the source that follows, or ended with the source so far. Containers
  /// nested deeper than the options allow stream into a segment.
  void open_container(bool object);
  void close_container();
  /// Whether the container that begins here, or the innermost one, is part of a sub-tree that
  /// streams: then it does not matter which source is there.
  bool opens_deep() const {
    return frames_.size() > options_.max_depth || (collapsed() && !protecting_ && !has_fields_);
  }
  bool is_deep() const { return !deep_.empty(); }
  /// Whether the document is too large. Checked whenever a value is complete.
  bool overflows() const { return chars_ > bound_ && !collapsed() && !protecting_; }
  /// How many characters more it may have.
  uint64_t room() const { return collapsed() ? UINT64_MAX : bound_ - std::min(chars_, bound_); }
  /// Takes sub-trees out until the document fits.
  void shrink();

  /// Counts a number that ended, an element of the innermost container or a member of it. Returns
  /// whether it makes a series of it, which has to leave: then `collapse_series` follows, after its
  /// source.
  bool add_number(std::string_view number);
  void collapse_series() { collapse(frames_.size() - 1); }

  /// A short key without escapes follows the source so far; other keys are read when they close.
  /// From the key of a protected member to the end of its value, nothing is taken out or counted.
  void open_member(Member member) { open_member(member, out_.size()); }
  bool protecting() const { return protecting_; }
  /// The place of the innermost open container.
  Place place() const { return is_deep() ? Place::elsewhere : frames_.back().place; }
  /// Whether keys of the innermost container have a meaning.
  bool reads_keys() const {
    return options_.protect ? has_meaning(place()) : place() == Place::result;
  }
  /// The protected member's value begins with this byte.
  void open_protected(uint8_t first);
  /// Whether the value that ended belongs to the protected member. Then `close_member` follows,
  /// after its source.
  bool ends_member() const { return protecting_ && frames_.size() == protect_depth_; }
  void close_member();

  /// Whether values of the innermost container may stand at configured places: then `follow` gets
  /// the name of each, and commas are told.
  bool follows() const { return has_fields_ && !is_deep() && !frames_.empty(); }
  [[gnu::cold]] void follow(std::string_view name);
  void pass_comma() {
    if (has_fields_) next_element();
  }
  /// Whether the configuration names the value that begins here.
  bool is_field() const { return has_fields_ && find_field().has_value(); }

  void open_string(bool key);
  /// Appends source of the open string, `chars` code points, never cut inside an escape. What is
  /// `sound` stands for nothing that `count_damage` counts.
  void text(std::string_view source, size_t chars, bool sound);
  void close_string(bool key);
  /// Whether a string of so many bytes stays, whatever they are.
  bool keeps_string(size_t bytes) const {
    return bytes < options_.max_inline_size && bytes < options_.min_run_chars;
  }
  /// Ends the document before its value is complete: what streams ends here.
  void break_off();

  /// The source before the next byte of the open string; at most kReach bytes.
  std::string_view behind() const;
  /// The last bytes of the document so far, structure included; at most kReach.
  std::string_view tail() const;
  /// Whether a run may leave, with `prefix` bytes before it. False if the limit of segments is
  /// reached; then the run stays as it is. `take_back` takes these bytes back from the open string.
  bool admits_run(size_t prefix = 0);
  void take_back(size_t prefix);
  /// Writes the marker of a run into the open string, or with quotes as a value.
  void mark(uint32_t segment);
  void mark_value(uint32_t segment);

  /// Releases all bytes that no later decision needs; with `all`, of a string that streams what it
  /// has, since nothing is taken back from it.
  void flush(bool all = false);

  /// Whether a sub-tree streams into a segment.
  bool collapsed() const { return json_ >= 0; }

  size_t depth() const { return frames_.size() + deep_.size(); }
  bool in_object() const {
    if (!deep_.empty()) return deep_.back();
    return !frames_.empty() && frames_.back().object;
  }
  const std::string& out() const { return out_; }

 private:
  // Numbers in the innermost container, an array.
  struct Series {
    uint64_t count = 0;
    uint64_t decimals = 0;  // that have four or more of them
    double low = 0, high = 0;
    std::string first;  // some of them, and the least and the greatest, as they are written
    std::string least, greatest;

    bool is_long() const { return count > kLongestSeries && decimals * 2 > count; }
  };
  // A closed sub-tree that is worth taking out by itself.
  struct Candidate {
    size_t begin = 0;
    size_t end = 0;
    uint64_t chars = 0;
    bool valid = false;
    bool body = false;
  };
  // A string that stands where the configuration names a place, or a text of a block, with its
  // quotes.
  struct Named {
    size_t begin = 0;
    size_t size = 0;
    uint32_t field = 0;  // or kBlockText
  };
  struct Frame {
    bool object = false;
    bool body = false;  // the document, or its `result`
    Place place = Place::elsewhere;
    size_t begin = 0;    // in out_
    uint64_t chars = 0;  // of the document before it
    uint32_t extracted = 0;
    Candidate candidate;
    size_t name = 0;  // in path_
  };

  /// Whether what passes of the open string leaves it.
  bool streams() const { return text_ >= 0 || inner_ != nullptr; }
  void set_bound();
  void check_string(uint64_t limit);
  void start_text();
  std::string_view see_part() const;
  size_t find_inner() const;
  size_t find_fenced();
  void start_inner(size_t begin);
  void advance(size_t cut, bool all = false);
  size_t advance_text(std::string_view source);
  size_t advance_inner(std::string_view source);
  void end_part(size_t behind);
  uint32_t close_text();
  std::string close_inner();
  uint64_t count_string(size_t begin, size_t end) const;
  uint64_t count_source(size_t begin) const;
  bool is_mangled() const;
  void mark_if_whole();
  bool is_block_text() const;
  uint64_t least_subtree() const;
  void extract(Frame& frame);
  void close_gap(size_t place, size_t bytes, uint64_t chars);
  void collapse(size_t frame);
  void end_collapse(bool body);
  size_t max_segments() const;
  bool keeps_root() const;
  void saturate();
  [[gnu::cold]] void next_element();
  [[gnu::cold]] std::optional<uint32_t> find_field() const;
  [[gnu::cold]] size_t take_named(size_t begin, size_t end, bool texts = false);
  [[gnu::cold]] bool take_texts();
  [[gnu::cold]] std::string take_field(std::string_view source, uint32_t field);
  void open_member(Member member, size_t begin);
  void name_member();
  Place place_within(bool object) const;
  void spend(uint64_t chars);
  size_t text_cut() const;
  size_t reach_cut() const;
  void emit(uint32_t segment, std::string_view source, bool undo_escapes, bool sound = false);

  const GateOptions& options_;
  std::unique_ptr<GateOptions> within_;  // those of documents in texts of this one
  SegmentLog& log_;
  const uint32_t level_;
  std::string out_;
  std::vector<Frame> frames_;
  std::vector<bool> deep_;  // containers inside those, all of a sub-tree that streams; true: object
  uint64_t chars_ = 0;      // of the document, what was collapsed counted as a reference
  uint64_t bound_ = 0;      // of chars_

  int64_t json_ = -1;  // the segment a sub-tree streams into
  size_t json_frame_ = 0;
  size_t structured_ = 0;  // the frame of the value of `structuredContent`; 0: none is open
  size_t json_begin_ = 0;

  bool in_string_ = false;
  size_t string_begin_ = 0;
  uint64_t string_chars_ = 0;
  uint64_t string_source_ = 0;    // characters of source, runs included
  size_t sound_begin_ = 0;        // in out_; behind it the open string is sound, without markers
  bool stays_plain_ = false;      // the string may no longer become a text segment
  int64_t text_ = -1;             // the segment a string streams into, or
  std::unique_ptr<Inner> inner_;  // the value in its text, which reads what passes
  size_t text_begin_ = 0;         // in out_; of what streams
  size_t fence_ = 0;              // ticks of the fence that a text streams from, which ends it
  size_t part_begin_ = 0;         // in out_; before it nothing of the open string streams any more
  uint64_t part_source_ = 0;      // characters of source before it
  uint32_t part_segment_ = 0;     // the first segment in what streams
  std::optional<Spelling> spelling_;  // of what streams, in a string inside another

  bool envelope_ = false;          // a JSON-RPC message
  Place next_ = Place::elsewhere;  // of the value behind the last key
  bool protecting_ = false;
  bool wants_array_ = false;  // or the member is not protected after all
  size_t protect_begin_ = 0;  // of the member in out_
  size_t protect_depth_ = 0;  // frames around it
  uint64_t unspent_ = kMaxProtected;
  Series series_;
  const bool has_fields_;
  std::string path_;               // names and elements to the value at hand, a NUL behind each
  std::optional<uint32_t> field_;  // what the open string is
  std::vector<Named> named_;       // in out_, in what may still leave as a whole
  bool takes_texts_ = false;       // of blocks, which are too large together
  std::array<std::string, 2> members_;  // source of those protected, by the depth of their body
};

/// The length of the unit at the start, which must not be cut: a marker, an escape, a pair of
/// surrogate escapes, or one byte.
size_t element_size(std::string_view source);

}  // namespace sluice::gate
