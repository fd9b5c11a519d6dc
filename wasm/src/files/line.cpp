#include "files/line.h"

#include "describe/ansi.h"
#include "describe/code_point.h"
#include "json/utf8.h"

namespace sluice::files {

std::string one_line(std::string_view text) {
  std::string line;
  bool space = false;
  for (size_t at = 0; at < text.size();) {
    if (const size_t sequence = ansi_length(text, at); sequence > 0) {
      at += sequence;
      continue;
    }
    const CodePoint point = read_code_point(text, at);
    at += point.length;
    if (is_space(point.value)) {
      space = !line.empty();
    } else if (!is_control(point.value) && !is_invisible(point.value)) {
      if (space) line += ' ';
      space = false;
      append_code_point(line, point.value);
    }
  }
  return line;
}

}  // namespace sluice::files
