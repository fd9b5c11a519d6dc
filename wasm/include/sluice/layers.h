// The layers over a reduced document: L4 configured fields, L1 resource links, L2 typed blocks, and
// the two dialects in which a result is written (RFC 0.3 §4.1).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/config.h"
#include "sluice/event.h"
#include "sluice/segment.h"
#include "sluice/status.h"

namespace sluice {

enum class Dialect : uint8_t { observation, mcp };

/// Which call a result answers.
struct Call {
  std::string tool;
  std::string name_space;  ///< `tableau`: names the read-back tool `tableau_artifact_read`
  Dialect dialect = Dialect::observation;
  bool client_shows_images = false;  ///< what `inline_media: auto` asks
  bool transformed = false;          ///< a transformer wrote it: L4, L1 and L2 are over
};

/// What the store answered for a segment.
struct Stored {
  std::string id;
  std::string filename;
  std::string mime_type;  ///< empty: as the segment says
  std::string warning;    ///< set when the content was not stored (RFC 0.3 §7.4)
  bool opaque = false;    ///< a text that may be encoded bytes, for a `decode` could not be done
};

/// Something the host should do before `render`.
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

/// The reference to an artifact as it stands in a string:
/// `artifact://<id>?type=application/pdf&size=2201231`, with `&form=…` when `with_form` and the run
/// is not plain padded base64, and `&error=not-stored` when no store kept it. Holds only characters
/// that need no escape in JSON, YAML or Markdown; id and type are percent-encoded but for letters,
/// digits and `-._/`.
std::string reference(const Segment& segment, std::string_view id, bool with_form);

/// Works out what becomes of a reduced document, then writes it.
class Layers {
 public:
  Layers(const Config& config, Call call, std::string reduced, std::vector<Segment> segments);
  ~Layers();

  /// L4, L1, L2. New segments (short typed blocks, configured fields) are logged in `events` with
  /// open, data and close; their records follow the gate's in `segments`.
  Status plan();
  const std::vector<Task>& tasks() const;
  std::string& events();
  const std::vector<Segment>& segments() const;
  Segment& segment(uint32_t index);

  /// Answers of the host. Every segment needs `stored` before `render`.
  void stored(uint32_t segment, Stored stored);
  /// The outcome of a `decode` task: the record of the decoded bytes; not called when the text was
  /// no base64 after all. Appends an `annotate` task with the final type and name. Where the text
  /// was not `exact`ly what the record's form writes, `original` may be asked for.
  void decoded(uint32_t segment, Segment record, bool exact);
  /// The segment that the text is, which the bytes of another took the place of; restoring needs it
  /// stored. Nothing where the form writes it again.
  std::optional<uint32_t> original(uint32_t segment) const;
  /// The outcome of a `read` task, as JSON to merge into the link:
  /// `{"fetched":true,"artifact":{…}}`,
  /// `{"fetched":true,"text":"…"}` or `{"fetched":false,"fetch_error":"…"}`.
  void link(uint32_t number, std::string json);

  /// Whether anything differs from the original; when false the original bytes are the answer in
  /// the mcp dialect.
  bool changed() const;

  /// The observation or the CallToolResult as JSON text.
  std::string render();

  /// After `render` in the mcp dialect: the entries written to `_meta["sluice/refs"]`, an array as
  /// JSON text. A result that is no object has no `_meta`; whoever wants to restore it keeps these.
  std::string refs_json() const;

 private:
  class Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace sluice
