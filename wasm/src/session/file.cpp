// What kind of file some bytes are, for a host that has a file and no message.
#include "json/object.h"
#include "sluice/describe.h"
#include "sluice/session.h"
#include "sluice/sniff.h"

namespace sluice {

std::string describe_file(std::string_view head, uint64_t size) {
  const auto sniffed = sniff(as_bytes(head.substr(0, kSniffHead)));
  Subject subject;
  subject.size_bytes = size;
  subject.head = as_bytes(head.substr(0, kDescribeHead));
  subject.text = !sniffed && is_text(as_text(subject.head));
  subject.type =
      sniffed ? *sniffed : type_of_mime(subject.text ? "text/plain" : "application/octet-stream");
  if (subject.text && head.size() == size) tell_text(head, subject);
  return Object()
      .text("mime_type", subject.type.mime_type)
      .text("extension", subject.type.extension)
      .text("description", describe(subject))
      .end();
}

}  // namespace sluice
