// The layers over a reduced document: L4 configured fields, L1 resource links, L2 typed blocks, and
// the two dialects of a result.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/config.h"
#include "sluice/segment.h"
#include "sluice/status.h"

namespace sluice {

enum class Dialect : uint8_t { observation, mcp };

/// What a reference in `structuredContent` says of what it stands for, in the mcp dialect: nothing;
/// the sentence that a block would have; or that with a preview.
enum class StructureNotes : uint8_t { none, sentences, previews };

/// The call that a result answers.
struct Call {
  std::string tool;
  std::string name_space;  ///< `tableau`: prefix of ids
  /// The tool that reads artifacts back, as sentences name it. Empty if the model has none; left
  /// out, it is `artifact_read` behind the namespace.
  std::optional<std::string> read_tool;
  Dialect dialect = Dialect::observation;
  bool client_shows_images = false;  ///< what `inline_media: auto` asks
  StructureNotes structure_notes = StructureNotes::none;
  /// Characters of a string that its client shows whole, if fewer than `max_inline_size`; else 0.
  uint32_t whole_text = 0;
  bool transformed = false;  ///< a transformer wrote it: L4, L1 and L2 are over
};

/// The store's answer for a segment.
struct Stored {
  std::string id;
  std::string filename;
  std::string mime_type;  ///< empty: as the segment says
  std::string warning;    ///< set when the content was not stored
  bool opaque = false;    ///< a text that may be encoded bytes, for a `decode` could not be done
};

/// A block whose bytes, or a string whose text, was taken out, and may come back before `render` in
/// a form that the client shows.
struct Showable {
  enum class Kind : uint8_t {
    image,     ///< the data of an image block
    audio,     ///< the data of an audio block
    resource,  ///< the blob of an embedded resource
    text,      ///< the whole of a string
  };
  uint32_t segment = 0;
  Kind kind = Kind::image;
  bool listed = false;  ///< `inline_media` says that it stays, for any client
};

/// What stands in the place of a block.
struct Shown {
  Showable::Kind kind = Showable::Kind::image;
  std::string mime_type;
  std::string data;  ///< base64; of a text the text
  std::string note;  ///< said of it beside its description: `scaled down to 800 × 600 here`
};

/// Something the host has to do before `render`.
struct Task {
  enum class Kind : uint8_t {
    annotate,  ///< give the stored segment this mime_type and filename
    decode,  ///< the segment's text is base64: store its decoded bytes instead, then call `decoded`
    read,    ///< read the resource link `uri`, then call `link`
  };
  Kind kind = Kind::annotate;
  uint32_t index = 0;  ///< segment, or for `read` the number of the link
  std::string mime_type;
  std::string filename;
  std::string uri;
  uint64_t size_bytes = 0;
};

/// The reference to an artifact inside a string:
/// `artifact://<id>?type=application/pdf&size=2201231`; with `&error=not-stored` if no store kept
/// it, and then with `&form=…` if `with_form` and the run is not plain padded base64. Its
/// characters need no escape in JSON, YAML or Markdown; id and type are percent-encoded except for
/// letters, digits and
/// `-._/`.
std::string reference(const Segment& segment, std::string_view id, bool with_form);

/// Decides what becomes of a reduced document, then writes it.
class Layers {
 public:
  Layers(const Config& config, Call call, std::string reduced, std::vector<Segment> segments);
  ~Layers();

  /// Applies L4, L1 and L2. New segments (short typed blocks, configured fields) are logged in
  /// `events` with open, data and close. Their records follow the gate's in `segments`.
  Status plan();
  const std::vector<Task>& tasks() const;
  std::string& events();
  const std::vector<Segment>& segments() const;
  Segment& segment(uint32_t index);

  /// The host's answers. Every segment needs `stored` before `render`.
  void stored(uint32_t segment, Stored stored);
  /// The outcome of a `decode` task: the record of the decoded bytes. Not called if the text was no
  /// base64. Appends an `annotate` task with the final type and name. If the form does not write
  /// the text `exact`ly, ask for `original`.
  void decoded(uint32_t segment, Segment record, bool exact);
  /// The segment with the original text of decoded bytes, which restoring needs. Empty if the form
  /// writes it again.
  std::optional<uint32_t> original(uint32_t segment) const;
  /// The outcome of a `read` task, as JSON to merge into the link:
  /// `{"fetched":true,"artifact":{…}}`, `{"fetched":true,"text":"…"}` or
  /// `{"fetched":false,"fetch_error":"…"}`.
  void link(uint32_t number, std::string json);

  /// After all are stored: what may come back. Texts of at most `max_text` bytes, without tables,
  /// data and markup.
  std::vector<Showable> showable(uint64_t max_text) const;
  /// Puts one of them back.
  void show(uint32_t segment, Shown shown);
  /// Whether the result tells an error.
  bool is_error() const;
  /// Bytes of the result without what was taken out.
  size_t reduced_bytes() const;

  /// Whether anything differs from the original. If not, the original bytes are the answer in the
  /// mcp dialect.
  bool changed();

  /// The observation or the CallToolResult as JSON text.
  std::string render();

  /// After `render` in the mcp dialect: the entries of `_meta["sluice/refs"]` as a JSON array. A
  /// result that is no object has no `_meta`; keep these to restore it.
  std::string refs_json() const;

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace sluice
