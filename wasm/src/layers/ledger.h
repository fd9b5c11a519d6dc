// The segments of a result: the gate's records, what the layers learn about them, what the host
// answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layers/payload.h"
#include "layers/template.h"
#include "sluice/layers.h"

namespace sluice::layers {

/// Segments that the layers may add to the gate's. Beyond it, short strings stay as they came.
inline constexpr size_t kMaxAdded = 1'024;

/// What is known of a segment beside its record.
struct About {
  std::string base;  ///< name without extension when nobody gave one: the tool, or a block's type
  std::string filename;              ///< given by the server, cleaned; else empty
  std::string label;                 ///< what a person called it in the configuration
  std::string declared;              ///< MIME type beside it
  bool trusted = false;              ///< … which the configuration says
  std::string summary_template;      ///< of the configured field
  std::vector<Value> siblings;       ///< for the template's own placeholders
  std::string wrap;                  ///< quote added on both sides, for bytes in JSON in a string
  std::optional<uint32_t> original;  ///< the text that it was, where no form writes that again
  std::optional<Stored> stored;
};

/// Types that text may have. A declared type that only bytes can have is not believed of text.
bool is_text_type(std::string_view mime_type);

/// Indexes are the numbers that markers carry.
class Ledger {
 public:
  Ledger(const Config& config, const Call& call, std::vector<Segment> segments);

  size_t size() const { return segments_.size(); }
  const std::vector<Segment>& segments() const { return segments_; }
  const Segment& segment(uint32_t index) const { return segments_[index]; }
  Segment& segment(uint32_t index) { return segments_[index]; }
  const About& about(uint32_t index) const { return abouts_[index]; }
  About& about(uint32_t index) { return abouts_[index]; }
  std::vector<Task>& tasks() { return tasks_; }
  std::string& events() { return events_; }

  /// Adds a segment and logs its bytes; nothing when there are too many already. Markers in a text
  /// are logged as references.
  std::optional<uint32_t> add_bytes(const Payload& payload, std::string_view source);
  std::optional<uint32_t> add_text(std::string_view text);

  /// Takes a declared MIME type where the bytes allow it. One that a server declares is believed
  /// only as a `plain_type`, one of the configuration (`trusted`) as it stands there.
  void declare(uint32_t index, std::string_view mime_type, bool trusted = false);
  /// Keeps the text that a segment was, for restoring: in JSON in a string as it is written there.
  /// False when there are too many segments already.
  bool keep_original(uint32_t index, std::string_view text);
  /// Asks the host to try whether a text is encoded bytes. `known` is the text, where more than its
  /// preview is known. False where it cannot be.
  bool ask_decode(uint32_t index, std::string_view known = {});
  /// Shows nothing of a text but what it refers to.
  void hide(uint32_t index);
  /// Tells the host the types and names of all segments, then what to try to decode.
  void annotate();

  void stored(uint32_t index, Stored stored);
  /// Where the text was not as the record's form writes it, it is kept as another segment.
  void decoded(uint32_t index, Segment record, bool exact);

  /// The name to store a segment under.
  std::string filename(uint32_t index) const;
  /// The name the store answered; `unstored` when it was never asked.
  std::string id(uint32_t index) const;

 private:
  std::optional<uint32_t> add(Segment segment, std::string_view bytes, bool references);
  void annotate(uint32_t index);
  void declare_bytes(Segment& segment, const About& about, std::string_view mime_type,
                     bool trusted);

  const Config& config_;
  std::string base_;
  bool restores_;  // whether what is written has to be restored from
  size_t given_;
  std::vector<Segment> segments_;
  std::vector<About> abouts_;
  std::vector<Task> tasks_;
  std::vector<Task> decodes_;
  std::string events_;
};

}  // namespace sluice::layers
