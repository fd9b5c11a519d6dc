#include "sluice/guardrail.h"

#include <algorithm>

#include "guardrail/cut.h"
#include "guardrail/measure.h"
#include "guardrail/writer.h"
#include "sluice/tape.h"

namespace sluice {

namespace guardrail {
namespace {

/// The document with long values cut.
void cut_values(const Measure& measure, Clamped& clamped) {
  Writer writer(measure);
  writer.value(0, measure.limit());
  clamped.text = writer.text();
  clamped.method = writer.cut_structure() ? "structure" : writer.cut_fields() ? "fields" : "space";
}

/// The beginning of the document's source as one string.
void cut_source(const Measure& measure, Clamped& clamped) {
  const Node& root = measure.tape()[0];
  clamped.text = '"';
  clamped.text += cut_text(measure, root.begin, root.end, measure.limit() - 2, Spelling::escaped);
  clamped.text += '"';
  clamped.method = "text";
}

/// The only exit. Whatever happened before, the output is JSON within the limit.
void hold_bound(size_t limit, Clamped& clamped) {
  clamped.clamped_chars = count_chars(clamped.text);
  Tape tape;
  if (clamped.clamped_chars <= limit && Tape::parse(clamped.text, tape, kMaxTapeDepth, false).ok())
    return;
  clamped.text = nothing_fits_note(clamped.original_chars);
  clamped.method = "text";
  clamped.clamped_chars = count_chars(clamped.text);
}

}  // namespace
}  // namespace guardrail

Clamped clamp(std::string_view json, const GuardrailOptions& options) {
  Clamped clamped;
  Tape tape;
  clamped.status = Tape::parse(json, tape, kMaxTapeDepth, false);
  if (!clamped.status.ok()) return clamped;
  clamped.original_chars = clamped.clamped_chars = count_chars(json);
  const size_t limit = std::max<size_t>(options.max_observation_chars, kMinObservationChars);
  if (clamped.original_chars <= limit) {
    clamped.text = json;
    clamped.method = "none";
    return clamped;
  }
  clamped.changed = true;
  const guardrail::Measure measure(tape, options);
  if (options.preserve_structure || tape[0].type == Type::string)
    guardrail::cut_values(measure, clamped);
  else
    guardrail::cut_source(measure, clamped);
  guardrail::hold_bound(measure.limit(), clamped);
  return clamped;
}

}  // namespace sluice
