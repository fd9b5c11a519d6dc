/**
 * A server's document as a client reads it: requests are made of it, and answers are held against it.
 * @module
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { RequestHandler } from "../../../../web/src/server/http/listen.js";
import { Telling, type Told } from "../sources/told.js";

/** A JSON Schema. */
export type Schema = { readonly [key: string]: unknown };

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: Schema;
}

/** The content of a body or an answer, by its media type. */
type Content = Readonly<Record<string, { readonly schema: Schema }>>;

interface Written {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security?: readonly unknown[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: Content }>>;
}

/** An operation of the document. */
export interface DescribedOperation extends Omit<Written, "parameters"> {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
}

/** What a request has, beyond what the document says. */
export interface Asked {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, or bytes where the operation takes them. */
  readonly body?: unknown;
}

const HERE = "http://127.0.0.1:8080";

/** Reads the document of a server. */
export class Description {
  readonly document: Schema;
  readonly operations: readonly DescribedOperation[];
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });

  private constructor(document: Schema) {
    this.document = document;
    const paths = document["paths"] as Readonly<Record<string, Readonly<Record<string, Written>>>>;
    this.operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { parameters = [], ...said }]) => ({ method, path, parameters, ...said })),
    );
    this.#ajv.addSchema(closed(document), "openapi.json");
  }

  /** Asks for it, as anybody may. */
  static async of(answering: RequestHandler, base = "/"): Promise<Description> {
    const response = await answering.fetch(new Request(`${HERE}${base}openapi.json`));
    if (response.status !== 200) throw new Error(`no document: ${response.status} ${await response.text()}`);
    return new Description((await response.json()) as Schema);
  }

  /** An operation by its name. */
  operation(id: string): DescribedOperation {
    const found = this.operations.find(({ operationId }) => operationId === id);
    if (found === undefined) throw new Error(`the document has no ${id}`);
    return found;
  }

  /** The path and the rest of a request, made of the document. */
  request(id: string, { path = {}, query = {}, headers = {}, body }: Asked): readonly [string, RequestInit] {
    const operation = this.operation(id);
    const known = (where: string): readonly string[] =>
      operation.parameters.filter((each) => each.in === where).map(({ name }) => name.toLowerCase());
    for (const [where, given] of Object.entries({ path, query, header: headers })) {
      const unknown = Object.keys(given).find((name) => !known(where).includes(name.toLowerCase()));
      if (unknown !== undefined) throw new Error(`${id} has no parameter ${unknown} in its ${where}`);
    }
    const address = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
      if (path[name] === undefined) throw new Error(`${id} needs ${name}`);
      return encodeURIComponent(path[name]);
    });
    const asked = new URLSearchParams(query).toString();
    const type = Object.keys(operation.requestBody?.content ?? {})[0];
    const isJson = type === "application/json";
    if ((type === undefined) !== (body === undefined)) throw new Error(`${id} has a body, or none: ${type}`);
    return [
      `${address}${asked === "" ? "" : `?${asked}`}`,
      {
        method: operation.method.toUpperCase(),
        headers: { ...headers, ...(isJson && { "content-type": type }) },
        ...(body !== undefined && { body: isJson ? JSON.stringify(body) : (body as BodyInit) }),
      },
    ];
  }

  /**
   * What was answered, where it is what the document says: JSON, text, or events up to one of this kind. Throws
   * where it is not.
   */
  async answered(id: string, response: Response, until?: string): Promise<unknown> {
    const { responses } = this.operation(id);
    const pointer = ["paths", this.operation(id).path, this.operation(id).method, "responses", `${response.status}`];
    const said = responses[response.status];
    if (said === undefined) throw new Error(`${id} may not answer ${response.status}: ${await response.text()}`);
    const where = said.$ref === undefined ? pointer : said.$ref.slice(2).split("/");
    const { content } = this.#at(where) as { readonly content?: Content };
    const type = response.headers.get("content-type")?.split(";")[0] ?? "";
    if (content === undefined) {
      const text = await response.text();
      if (text !== "") throw new Error(`${id} has a body: ${text}`);
      return undefined;
    }
    const isAny = content["*/*"] !== undefined;
    if (!isAny && content[type] === undefined) throw new Error(`${id} may not answer ${type}`);
    if (isAny || type === "text/html" || type === "text/plain") return response.text();
    const place = [...where, "content", type, "schema"];
    if (type !== "text/event-stream") {
      const value: unknown = await response.json();
      this.#hold(id, this.#schema(place), value);
      return value;
    }
    return this.#events(id, response, [...place, "contentSchema", "items"], until);
  }

  /** Whether a value is one that a schema allows which refers to no other. */
  allows(schema: Schema, value: unknown): boolean {
    // It is compiled once: ajv knows it again.
    return this.#ajv.validate(schema, value);
  }

  async #events(
    id: string,
    response: Response,
    place: readonly string[],
    until: string | undefined,
  ): Promise<readonly Told[]> {
    const schema = this.#schema(place);
    await using telling = new Telling(response);
    const all: Told[] = [];
    for (let told = await telling.next(); told !== null; told = await telling.next()) {
      this.#hold(id, schema, told);
      all.push(told);
      if (told.kind === until) break;
    }
    return all;
  }

  #schema(place: readonly string[]): ValidateFunction {
    const pointer = place.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")));
    return this.#ajv.compile({ $ref: `openapi.json#/${pointer.join("/")}` });
  }

  #hold(id: string, schema: ValidateFunction, value: unknown): void {
    if (schema(value)) return;
    const errors = schema.errors?.map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
    throw new Error(`${id} answers ${JSON.stringify(value).slice(0, 500)}: ${errors?.join("; ")}`);
  }

  #at(place: readonly string[]): unknown {
    return place.reduce<unknown>((at, key) => (at as Schema)[key], this.document);
  }
}

/** The same, where no object has members that it does not name. A server must not tell more than it says. */
function closed(value: unknown): Schema {
  const each = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(each);
    if (typeof part !== "object" || part === null) return part;
    const all = Object.fromEntries(Object.entries(part).map(([key, member]) => [key, each(member)]));
    const isOpen =
      all["type"] === "object" && all["properties"] !== undefined && all["additionalProperties"] === undefined;
    return isOpen ? { ...all, additionalProperties: false } : all;
  };
  return each(value) as Schema;
}
