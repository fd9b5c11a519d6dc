/**
 * `GET /openapi.json`: the addresses of a server as an OpenAPI 3.1 document, made of what was mounted.
 * @module
 */
import { createHash } from "node:crypto";
import type { Hono } from "hono";
import { z } from "zod";
import { SAFETY } from "../http/headers.js";
import { judgeConditions } from "../artifacts/bytes.js";
import { REFUSED } from "../http/refusals.js";
import type { ServeEnv } from "../http/context.js";
import { NAMED, REFUSAL } from "../schemas.js";
import {
  type Answer,
  EVENT_STREAM,
  answerJson,
  answerEmpty,
  type Operation,
  declareOperation,
  getOperation,
  mountRoutes,
  UPLOAD,
} from "../http/operation.js";

/** A part of a document. */
type Part = Readonly<Record<string, unknown>>;

/** A mounted operation. */
interface MountedOperation {
  readonly method: string;
  /** Below the base, such as `/artifacts/{id}`. */
  readonly path: string;
  readonly operation: Operation;
}

/** An OpenAPI 3.1 document. */
interface OpenApiDocument extends Part {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Part>>>>;
}

/** The version of the interface. Strangers read it, so it is not that of the software. */
const VERSION = "1";

/** What was mounted on an app. */
type Mounted = Pick<Hono<ServeEnv>, "routes">;

/** Serves the document of an app, as it is at the first request. */
export function documentRoutes({ base }: { readonly base: string }, app: Mounted): Hono<ServeEnv> {
  let made: { readonly text: string; readonly tag: string } | undefined;
  const make = (): typeof made & object => {
    const text = JSON.stringify(buildDocument(app, base));
    return { text, tag: `"${createHash("sha256").update(text).digest("base64url")}"` };
  };
  return mountRoutes({
    "/": {
      get: declareOperation({
        id: "describeServer",
        summary: "This document",
        tag: "server",
        isOpen: true,
        headers: { "If-None-Match": "Entity tags: 304 if the document has one of them." },
        answers: {
          200: answerJson(z.looseObject({ openapi: z.string() }), "An OpenAPI 3.1 document.", {
            ETag: "A strong entity tag.",
          }),
          304: answerEmpty("The document has an entity tag of `If-None-Match`."),
        },
        handle: (c) => {
          made ??= make();
          const isKnown = judgeConditions(c.req.raw.headers, made.tag) === "not_modified";
          // Another version of the server may have another one.
          const headers = { ...SAFETY, "Cache-Control": "no-cache", ETag: made.tag };
          if (isKnown) return new Response(null, { status: 304, headers });
          return new Response(made.text, { headers: { ...headers, "Content-Type": "application/json" } });
        },
      }),
    },
  });
}

/** The operations of an app in the order of their paths. */
export function listMounted({ routes }: Mounted, base: string): readonly MountedOperation[] {
  return routes.flatMap(({ path, method, handler }) => {
    const declared = getOperation(handler);
    if (declared === undefined) return [];
    const below = path.slice(base.length - 1).replace(/(?<=.)\/$/, "");
    return [{ method: method.toLowerCase(), path: below.replaceAll(/:(\w+)/g, "{$1}"), operation: declared }];
  });
}

/** The document of an app. */
function buildDocument(app: Mounted, base: string): OpenApiDocument {
  const mounted = listMounted(app, base);
  const schemas = new Schemas(mounted.flatMap(({ operation: each }) => collectSchemas(each)));
  const paths: Record<string, Record<string, Part>> = {};
  for (const { path, method, operation: each } of mounted) {
    (paths[path] ??= {})[method] = operationPart(each, path, schemas);
  }
  const responses = Object.fromEntries(statuses().map((status) => [`${status}`, refusalPart(status, schemas)]));
  const tags = [...new Set(mounted.map(({ operation: each, path }) => getTag(each, path)))];
  return {
    openapi: "3.1.0",
    info: { title: "Sluice", version: VERSION, summary: "Sessions, artifacts, tools and events over HTTP." },
    servers: [{ url: base.length === 1 ? base : base.slice(0, -1) }],
    security: [{ token: [] }, { cookie: [] }],
    tags: tags.map((name) => ({ name })),
    paths,
    components: { schemas: schemas.components(), responses, securitySchemes: SECURITY },
  };
}

const SECURITY = {
  token: { type: "http", scheme: "bearer", description: "The `token` of a session, see `beginSession`." },
  cookie: {
    type: "apiKey",
    in: "cookie",
    name: "sluice_session",
    description: "The cookie of a session. Behind its name stand `_` and the port, where the address has one.",
  },
};

/** Statuses of refusals of every operation. 429 and 401 are those of sessions. */
const ALWAYS: readonly number[] = [403, 500, 503];

function listRefusals({ isOpen, path, query, body, refusals = [] }: Operation): readonly number[] {
  const all = new Set([...ALWAYS, ...refusals]);
  if (isOpen !== true) for (const status of [401, 429, 504]) all.add(status);
  if (path !== undefined || query !== undefined || body !== undefined) all.add(400);
  if (body !== undefined) for (const status of [408, 413, 415]) all.add(status);
  return [...all].toSorted((left, right) => left - right);
}

function statuses(): readonly number[] {
  return [...new Set(REFUSED.map(({ status }) => status))];
}

/** A refusal by its status: when it is answered, and with which codes. */
function refusalPart(status: number, schemas: Schemas): Part {
  const said = REFUSED.filter((each) => each.status === status);
  const sentences = [...new Set(said.map(({ when }) => when))].map((when) => {
    const codes = said.filter((each) => each.when === when).map(({ code }) => `\`${code}\``);
    return `${codes.join(", ")}: ${when}`;
  });
  const headers = status === 429 || status === 503 ? headersPart({ "Retry-After": "Seconds to wait." }) : {};
  return {
    description: sentences.join(" "),
    ...(Object.keys(headers).length > 0 && { headers }),
    content: { "application/json": { schema: schemas.of(REFUSAL) } },
  };
}

function getTag({ tag }: Operation, path: string): string {
  return tag ?? path.split("/")[1] ?? "";
}

function operationPart(each: Operation, path: string, schemas: Schemas): Part {
  const { id, summary, description, isOpen, body, answers } = each;
  const parameters = listParameters(each, schemas);
  const own = Object.entries(answers).map(([status, answer]) => [status, answerPart(answer, schemas)] as const);
  const refusals = listRefusals(each).filter((status) => answers[status] === undefined);
  const refused = refusals.map((status) => [`${status}`, { $ref: `#/components/responses/${status}` }] as const);
  return {
    operationId: id,
    summary,
    ...(description !== undefined && { description }),
    tags: [getTag(each, path)],
    ...(isOpen === true && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: bodyPart(body, schemas) }),
    responses: Object.fromEntries([...own, ...refused]),
  };
}

function bodyPart(body: NonNullable<Operation["body"]>, schemas: Schemas): Part {
  if (body === UPLOAD) return { required: true, content: { "*/*": { schema: { type: "string", format: "binary" } } } };
  const schema = body instanceof z.ZodType ? body : body.schema;
  return { required: true, content: { "application/json": { schema: schemas.of(schema) } } };
}

function listParameters({ path, query, headers = {} }: Operation, schemas: Schemas): readonly Part[] {
  const told = Object.entries(headers).map(([name, description]) => ({
    name,
    in: "header",
    description,
    required: false,
    schema: { type: "string" },
  }));
  return [...listFields(path, "path", schemas), ...listFields(query, "query", schemas), ...told];
}

/** The members of a schema as parameters. */
function listFields(schema: z.ZodObject | undefined, where: "path" | "query", schemas: Schemas): readonly Part[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schemas.of(schema) as {
    readonly properties?: Readonly<Record<string, Part>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: where,
    ...(description !== undefined && { description }),
    required: required.includes(name),
    schema: rest,
  }));
}

function answerPart({ description, content, headers }: Answer, schemas: Schemas): Part {
  const types = Object.entries(content).map(([type, schema]) => [type, { schema: contentPart(type, schema, schemas) }]);
  return {
    description,
    ...(Object.keys(headers).length > 0 && { headers: headersPart(headers) }),
    ...(types.length > 0 && { content: Object.fromEntries(types) as Part }),
  };
}

/** Events are a text for OpenAPI 3.1: what each of them has as its data is the schema of the text's content. */
function contentPart(type: string, schema: z.ZodType, schemas: Schemas): Part {
  if (type === "*/*") return { type: "string", format: "binary" };
  if (type !== EVENT_STREAM) return schemas.of(schema);
  return {
    type: "string",
    description: "Server-sent events, whose data is JSON.",
    contentMediaType: EVENT_STREAM,
    contentSchema: { type: "array", items: schemas.of(schema) },
  };
}

function headersPart(headers: Readonly<Record<string, string>>): Part {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: "string" } }]),
  );
}

function collectSchemas({ path, query, body, answers }: Operation): readonly z.ZodType[] {
  const ofBody = body === undefined || body === UPLOAD ? undefined : body instanceof z.ZodType ? body : body.schema;
  const parts = [path, query, ofBody].filter((schema) => schema !== undefined);
  return [...parts, ...Object.values(answers).flatMap(({ content }) => Object.values(content))];
}

const COMPONENT = "#/components/schemas/";

/** Zod's schemas as JSON Schemas. Those that are named refer to each other. */
class Schemas {
  readonly #ids = new Map<z.ZodType, string>();
  readonly #made: Readonly<Record<string, Part>>;
  readonly #used = new Set<string>();

  constructor(schemas: readonly z.ZodType[]) {
    const registry = z.registry<{ readonly id: string }>();
    for (const [schema, id] of [...NAMED, ...schemas.map((each, at) => [each, `part ${at}`] as const)]) {
      if (this.#ids.has(schema)) continue;
      this.#ids.set(schema, id);
      registry.add(schema, { id });
    }
    // What is not said of an object is open: later servers may tell more. What bodies may not have is said.
    const options = { io: "input", target: "draft-2020-12", uri: (id: string) => COMPONENT + id } as const;
    this.#made = z.toJSONSchema(registry, options).schemas;
  }

  /** A reference to a schema that is named, else the schema itself. */
  of(schema: z.ZodType): Part {
    const id = this.#ids.get(schema) ?? "";
    if (NAMED.has(schema)) return this.#note({ $ref: COMPONENT + id });
    const { $schema: _, $id: __, ...part } = this.#made[id] ?? {};
    return this.#note(part);
  }

  /** The schemas that were referred to, by their names. */
  components(): Part {
    const all: Record<string, Part> = {};
    // Those that are referred to by others come behind them.
    for (const name of this.#used) {
      const { $schema: _, $id: __, ...part } = this.#made[name] ?? {};
      all[name] = this.#note(part);
    }
    return Object.fromEntries(Object.entries(all).toSorted(([left], [right]) => (left < right ? -1 : 1)));
  }

  /** The same part; what it refers to counts as used. */
  #note(part: Part): Part {
    for (const [, name = ""] of JSON.stringify(part).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)) {
      this.#used.add(name);
    }
    return part;
  }
}
