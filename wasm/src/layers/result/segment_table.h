// The segments of a result: the gate's records, what the layers learn about them, and the host's
// answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/payload.h"
#include "sluice/layers.h"

namespace sluice::layers {

/// A value for a placeholder. A value that is not `trusted` came from a server or a file;
/// `quote_untrusted` says how it is shown.
struct Value {
  std::string name;
  std::string text;
  bool trusted = false;
};

/// The names between braces in a template, without duplicates.
std::vector<std::string> placeholders(std::string_view text);

/// Replaces `{name}` by its value. Unknown names stay. An untrusted value is quoted unless the
/// template quotes it.
std::string expand_template(std::string_view text, const std::vector<Value>& values);

/// How many segments the layers may add. After that, short strings stay as they are.
inline constexpr size_t kMaxAdded = 1'024;

/// What is known of a segment besides its record.
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
  std::optional<Shown> shown;  ///< what stands in the place of its block
};

/// All segments of a result, by the index that markers carry.
class SegmentTable {
 public:
  SegmentTable(const Config& config, const Call& call, std::vector<Segment> segments);

  size_t size() const { return segments_.size(); }
  const std::vector<Segment>& segments() const { return segments_; }
  const Segment& segment(uint32_t index) const { return segments_[index]; }
  Segment& segment(uint32_t index) { return segments_[index]; }
  const About& about(uint32_t index) const { return abouts_[index]; }
  About& about(uint32_t index) { return abouts_[index]; }
  std::vector<Task>& tasks() { return tasks_; }
  std::string& events() { return events_; }

  /// Adds a segment and logs its content. Empty if the limit is reached. Markers in a text are
  /// logged as references.
  std::optional<uint32_t> add_bytes(const Payload& payload, std::string_view source);
  std::optional<uint32_t> add_text(std::string_view text);

  /// Takes over a declared MIME type if the bytes allow it. A server's type counts only as a
  /// `plain_type`; a type from the configuration (`trusted`) is used as written.
  void declare(uint32_t index, std::string_view mime_type, bool trusted = false);
  /// Keeps the original text of a segment for restoring; in JSON inside a string, as escaped there.
  /// False if the limit is reached.
  bool keep_original(uint32_t index, std::string_view text);
  /// Asks the host to try to decode a text. `known` is more of the text than its preview, if
  /// available. False if the text cannot be base64.
  bool ask_decode(uint32_t index, std::string_view known = {});
  /// Hides a text except its references.
  void hide(uint32_t index);
  /// Adds tasks for the host: types and names of all segments, then the texts to decode.
  void annotate();

  void stored(uint32_t index, Stored stored);
  /// Replaces the text by its decoded bytes. If `exact` is false the form does not write the text
  /// again, so the text is kept as another segment.
  void decoded(uint32_t index, Segment record, bool exact);

  /// The file name to store a segment under.
  std::string filename(uint32_t index) const;
  /// The id from the store, or `unstored`.
  std::string id(uint32_t index) const;

 private:
  std::optional<uint32_t> add(Segment segment, std::string_view bytes, bool references);
  void annotate(uint32_t index);
  void declare_bytes(Segment& segment, const About& about, std::string_view mime_type,
                     bool trusted);

  const std::string& base();

  const Config& config_;
  const Call& call_;
  std::string base_;  // empty until a segment needs it
  bool restores_;     // whether what is written has to be restored from
  size_t given_;
  std::vector<Segment> segments_;
  std::vector<About> abouts_;
  std::vector<Task> tasks_;
  std::vector<Task> decodes_;
  std::string events_;
};

}  // namespace sluice::layers
