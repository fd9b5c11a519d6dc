/**
 * The addresses of a server as Markdown, made of the document that it answers at `/openapi.json`.
 * @module
 */

/** Stands in a page where the reference goes. */
export const REST_MARKER = "<!-- the addresses -->";

/** All operations by their group, then what they have in common: schemas, events, refusals. */
export function restReference(document) {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, said]) => ({ path: path.slice(1), method: method.toUpperCase(), ...said })),
  );
  const { schemas, responses } = document.components;
  const named = Object.entries(schemas).map(([name, schema]) =>
    schema.oneOf === undefined && schema.anyOf === undefined ? objectPart(name, schema) : eventsPart(name, schema),
  );
  return [
    ...document.tags.map(({ name }) => groupPart(name, operations, document)),
    "### What they have in common",
    ...named,
    "### Refusals",
    table(
      ["status", "codes, and when"],
      Object.entries(responses).map(([status, { description }]) => [status, description]),
    ),
  ].join("\n\n");
}

function groupPart(tag, operations, document) {
  const own = operations.filter(({ tags }) => tags.includes(tag));
  return [`### Addresses: ${tag}`, ...own.map((operation) => operationPart(operation, document))].join("\n\n");
}

function operationPart({ method, path, operationId, summary, description, ...rest }, document) {
  const lead = `${code(`${method} ${path}`)}, called ${code(operationId)}.`;
  const open = rest.security?.length === 0 ? " Needs no session." : "";
  const takes = [...(rest.parameters ?? []).map(parameterLine), ...bodyLines(rest.requestBody)];
  const answers = Object.entries(rest.responses).flatMap(([status, answer]) => answerLines(status, answer));
  const refused = Object.entries(rest.responses).filter(([, { $ref }]) => $ref !== undefined);
  const isCommon = (status) => document.components.responses[status] !== undefined;
  const statuses = refused.map(([status]) => status).filter(isCommon);
  return [
    // Without code, which the list of the page's headings would leave out.
    `#### ${summary}`,
    [lead, description].filter((part) => part !== undefined).join(" ") + open,
    [...takes, ...answers, `- Refused: ${statuses.join(", ")}.`].join("\n"),
  ].join("\n\n");
}

function parameterLine({ name, in: where, required, description, schema }) {
  const shown = where === "query" ? `?${name}=` : where === "path" ? `{${name}}` : name;
  const need = required || schema.default !== undefined ? "" : ", optional";
  const type = where === "header" ? " (header)" : ` (${typeOf(schema)}${need})`;
  return `- ${code(shown)}${type}${said(description)}`;
}

function bodyLines(body) {
  if (body === undefined) return [];
  const [[type, { schema }]] = Object.entries(body.content);
  if (type === "*/*") return ["- Body: the bytes."];
  const members = membersOf(schema).map((line) => `  ${line}`);
  return [`- Body, JSON${members.length === 0 ? `: ${schema.description ?? typeOf(schema)}` : ":"}`, ...members];
}

function answerLines(status, { $ref, description, content = {}, headers = {} }) {
  if ($ref !== undefined) return [];
  const types = Object.entries(content).map(([type, { schema }]) => contentOf(type, schema));
  const told = Object.entries(headers).map(([name, header]) => `  - ${code(name)} (header)${said(header.description)}`);
  const json = content["application/json"]?.schema;
  const members = json === undefined || json.$ref !== undefined ? [] : membersOf(json).map((line) => `  ${line}`);
  const what = types.length === 0 ? "" : ` ${types.join(", or ")}.`;
  return [`- ${status}: ${description}${what}`, ...members, ...told];
}

function contentOf(type, schema) {
  if (type === "*/*") return "Bytes";
  if (type === "text/html") return "HTML";
  if (type === "text/event-stream") return `Events: ${typeOf(schema.contentSchema.items)}`;
  return schema.$ref === undefined ? "JSON" : `JSON: ${typeOf(schema)}`;
}

function objectPart(name, schema) {
  return [`#### ${name}`, schema.description ?? "", membersOf(schema).join("\n")]
    .filter((part) => part !== "")
    .join("\n\n");
}

function eventsPart(name, { oneOf, anyOf }) {
  const rows = (oneOf ?? anyOf).map(({ properties, required = [], description }) => {
    const { kind, ...members } = properties;
    const listed = Object.entries(members).map(
      ([key, schema]) => `${code(required.includes(key) ? key : `${key}?`)} ${typeOf(schema)}`,
    );
    return [kind.const === undefined ? "any" : code(kind.const), `${description} ${listed.join(", ")}`];
  });
  return [`#### ${name}`, table(["event", "says"], rows)].join("\n\n");
}

/** The members of an object, a line each. */
function membersOf({ properties = {}, required = [] }) {
  return Object.entries(properties).map(([name, schema]) => {
    const need = required.includes(name) || (schema.default ?? null) !== null ? "" : ", optional";
    return `- ${code(name)} (${typeOf(schema)}${need})${said(schema.description)}`;
  });
}

/** A schema in words. */
function typeOf(schema) {
  const { $ref, type, enum: choices, const: only, items, anyOf, oneOf, properties, default: standard } = schema;
  const unless = standard === undefined || standard === null ? "" : `, ${code(JSON.stringify(standard))} unless given`;
  if ($ref !== undefined) return code($ref.split("/").at(-1));
  if (only !== undefined) return code(JSON.stringify(only));
  if (choices !== undefined) return choices.map((each) => code(JSON.stringify(each))).join(", ") + unless;
  const several = anyOf ?? oneOf;
  if (several !== undefined) return [...new Set(several.map(typeOf))].join(" or ") + unless;
  if (Array.isArray(type))
    return type.map((each) => typeOf({ ...schema, type: each, default: undefined })).join(" or ") + unless;
  if (type === "array") return `list of ${typeOf(items ?? {})}${boundsOf(schema)}${unless}`;
  if (type === "object" && properties !== undefined) return `object: ${Object.keys(properties).map(code).join(", ")}`;
  return `${type ?? "anything"}${boundsOf(schema)}${unless}`;
}

function boundsOf({ type, minimum, maximum, minLength, maxLength, maxItems, pattern }) {
  if (type === "null" || type === "boolean") return "";
  const most = maxLength ?? maxItems;
  const unit = maxItems === undefined ? " characters" : "";
  const isRange = Number.isSafeInteger(maximum) && maximum !== Number.MAX_SAFE_INTEGER;
  return [
    isRange ? `, ${minimum} to ${maximum}` : "",
    minLength === 1 ? ", not empty" : "",
    most === undefined ? "" : `, at most ${most}${unit}`,
    pattern === undefined ? "" : `, as ${code(pattern)}`,
  ].join("");
}

const said = (description) => (description === undefined ? "" : `: ${description}`);

const code = (text) => `\`${text}\``;

const row = (cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;

function table(head, rows) {
  return [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");
}
