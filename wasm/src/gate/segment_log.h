// The segments of one message: their records, and the log for the host.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/describe.h"
#include "sluice/gate.h"
#include "sluice/segment.h"

namespace sluice::gate {

/// How many characters a reference counts as, wherever a marker stands.
inline constexpr uint64_t kReferenceChars = 96;

/// Opens, feeds and closes segments. Their bytes leave at once; only a bounded head, and sometimes
/// a bounded tail, is kept to recognise and describe them.
class SegmentLog {
 public:
  explicit SegmentLog(const GateOptions& options) : options_(options) {}

  /// `delimiter` separates columns if the content was declared a table.
  uint32_t open(SegmentKind kind, char delimiter = '\0');
  /// In bytes that are `sound` no damage is looked for.
  void data(uint32_t index, std::string_view bytes, bool sound = false);
  /// Room for at most `size` bytes of a segment. Write them at once and call `written`.
  uint8_t* room(uint32_t index, size_t size);
  void written(uint32_t index, size_t size, bool sound = false);
  /// Logs a reference to a closed segment at this position of another one.
  void reference(uint32_t index, uint32_t inner);
  void close(uint32_t index);

  Segment& segment(uint32_t index) { return segments_[index]; }
  const std::vector<Segment>& segments() const { return segments_; }
  size_t size() const { return segments_.size(); }
  std::string& events() { return events_; }

 private:
  // What is kept of a segment while it is open.
  struct Open {
    uint32_t index = 0;
    std::string head;
    std::string kept;
    bool keeps = false;
    bool recognised = false;  // by the first kSniffHead bytes, or all of them; then:
    FileType type;
    char delimiter = '\0';
    std::optional<TextFacts> text;
    bool has_tail = false;
    Tail tail;
    std::string seam;                   // the last two bytes seen
    uint64_t damaged = 0;               // replacement characters and control characters in text
    ContentPrint content;               // of text
    std::optional<SourcePrint> source;  // of what is JSON, or begins like it
    bool begun = false;                 // a character that is no white space was there
    bool compared = true;               // it has a fingerprint
  };

  static constexpr size_t kNoRecord = SIZE_MAX;

  Open& open_segment(uint32_t index);
  void continue_record(uint32_t index);
  void end_record(uint32_t index, size_t at, bool sound);
  void look(uint32_t index, std::string_view bytes, bool sound);
  void follow(Open& open, const Segment& segment, std::string_view bytes, bool uncut = false);
  static void count_damaged(Open& open, std::string_view bytes, bool sound);
  void print(Open& open, const Segment& segment, std::string_view bytes) const;
  std::string_view keep(Open& open, std::string_view bytes, bool uncut);
  void recognise(Open& open, const Segment& segment) const;

  const GateOptions& options_;
  std::vector<Segment> segments_;
  std::vector<std::unique_ptr<Open>> open_;
  std::string events_;
  size_t record_ = kNoRecord;  // where the last record begins in events_, if it holds bytes, and
  uint32_t recorded_ = 0;      // of which segment
  size_t room_ = 0;            // where bytes under way begin in events_
  size_t kept_ = 0;
  size_t excerpts_ = 0;
  size_t previewed_ = 0;  // code points of options_.previews_chars that are used up
};

/// The kind of file that a text was before decoding broke it. Reads its head.
std::optional<FileType> sniff_mangled(std::string_view head,
                                      const std::vector<Signature>& signatures);

/// Whether so much of a text of `size` bytes is damaged that it was binary. Less is enough if its
/// head looks like a file.
bool looks_mangled(std::string_view head, uint64_t damage, uint64_t size,
                   const std::vector<Signature>& signatures);

}  // namespace sluice::gate
