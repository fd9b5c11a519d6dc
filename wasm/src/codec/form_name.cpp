#include "codec/form_token.h"

namespace sluice {

namespace codec {

std::string data_prefix(std::string_view mime_type) {
  if (mime_type.empty()) return {};
  return std::string("data:").append(mime_type).append(";base64,");
}

std::string_view encoding_token(Encoding encoding) {
  for (const auto& [value, token] : kEncodingTokens) {
    if (value == encoding) return token;
  }
  return {};
}

}  // namespace codec

namespace {

void add_number(std::string& name, char token, uint32_t number) {
  if (number != 0) name.append(1, '-').append(1, token).append(std::to_string(number));
}

void add_literal(std::string& name, char token, std::string_view literal, std::string_view usual) {
  if (literal == usual) return;
  name.append(1, '-').append(1, token);
  encode(as_bytes(literal), Alphabet::hex, false, false, name);
}

}  // namespace

std::string form_name(const Form& form, std::string_view mime_type) {
  if (form == Form{}) return {};
  std::string name(codec::encoding_token(form.encoding));
  if (!form.padded) name += "-nopad";
  add_number(name, 'w', form.column);
  add_number(name, 'f', form.first);
  add_literal(name, 'b', form.separator, "");
  add_literal(name, 'u', form.plus, "+");
  add_literal(name, 's', form.slash, "/");
  add_literal(name, 'e', form.pad, "=");
  if (!form.prefix.empty() && form.prefix == codec::data_prefix(mime_type)) {
    name += "-data";
  } else {
    add_literal(name, 'p', form.prefix, "");
  }
  add_literal(name, 'z', form.suffix, "");
  return name;
}

}  // namespace sluice
