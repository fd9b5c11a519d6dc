/**
 * Operations: what a method of an address takes and answers. A request is read by the schemas that its operation
 * declares, and the OpenAPI document is made of the same ones.
 * @module
 */
import { Hono } from "hono";
import { matchedRoutes } from "hono/route";
import { z } from "zod";
import { jsonAnswer } from "./answers.js";
import { methodRefused } from "./refusals.js";
import { type BodyLimits, readDeclaredType, readJson, readPath, readQuery, readUpload } from "./request.js";
import type { InSession, ServeEnv } from "./context.js";

/** What is answered with one status. */
export interface Answer<T = unknown> {
  /** What it means, in one sentence. */
  readonly description: string;
  /** The schema of each media type, or none without a body. For events it is that of their data. */
  readonly content: Readonly<Record<string, z.ZodType>>;
  /** What its own headers say. */
  readonly headers: Readonly<Record<string, string>>;
  /** What a handler returns for it. Exists in types only. */
  readonly value?: T;
}

type Headers = Answer["headers"];

/** The media type of server-sent events. */
export const EVENT_STREAM = "text/event-stream";

/** Answers with JSON. A handler returns the value. */
export function answerJson<S extends z.ZodType>(
  schema: S,
  description: string,
  headers: Headers = {},
): Answer<z.output<S>> {
  return { description, content: { "application/json": schema }, headers };
}

/** Answers with server-sent events, whose data is JSON by the schema. */
export function describeStream(schema: z.ZodType, description: string): Answer<never> {
  return { description, content: { [EVENT_STREAM]: schema }, headers: {} };
}

/** Answers with bytes of any type. */
export function answerBytes(description: string, headers: Headers = {}): Answer<never> {
  return { description, content: { "*/*": z.string() }, headers };
}

/** Answers with a page for people. */
export function answerPage(description: string): Answer<never> {
  return { description, content: { "text/html": z.string() }, headers: {} };
}

/** Answers with plain text. */
export function answerText(description: string): Answer<never> {
  return { description, content: { "text/plain": z.string() }, headers: {} };
}

/** Answers without a body. */
export function answerEmpty(description: string, headers: Headers = {}): Answer<never> {
  return { description, content: {}, headers };
}

/** Answers by what the client accepts. */
export function answerEither<T>(first: Answer<T>, second: Answer<T>): Answer<T> {
  return {
    description: `${first.description} ${second.description}`,
    content: { ...first.content, ...second.content },
    headers: { ...first.headers, ...second.headers },
  };
}

/** The body is bytes, which the handler reads as they arrive. */
export const UPLOAD = "upload";

/** A body of bytes. */
export interface Upload {
  /** The declared media type, or null. */
  readonly type: string | null;
  /** The bytes. Throws BodyRefused if they are too many, too slow or break off, and the signal's reason. */
  pieces(limits: Pick<BodyLimits, "maxBytes" | "idleSeconds" | "signal">): AsyncGenerator<Uint8Array>;
}

/** The body is a message that the handler passes on, with at most so many bytes in memory. */
export interface Passed {
  readonly schema: z.ZodType;
  readonly most: number;
}

type Body = z.ZodType | typeof UPLOAD | Passed | undefined;

/** What a handler gets of a request, by the schemas. */
export interface Input<P, Q, B> {
  /** The parts of the path that have names. */
  readonly path: P;
  readonly query: Q;
  readonly body: B;
}

type Read<S> = S extends typeof UPLOAD ? Upload : S extends z.ZodType ? z.output<S> : undefined;

/** Of lists, handlers may return such as cannot be changed. */
type Given<T> = T extends readonly (infer E)[]
  ? readonly Given<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Given<T[K]> }
    : T;

type Answers = Readonly<Record<number, Answer>>;

/** What is returned for the answers that are JSON. */
type Value<A extends Answers> = { [S in keyof A]: A[S] extends Answer<infer T> ? Given<T> : never }[keyof A];

/** What an operation is, for the document and for its readers. */
export interface Description {
  /** Its name in the document, such as `listArtifacts`. Clients are made of it, so it stays. */
  readonly id: string;
  /** What it does, in a few words. */
  readonly summary: string;
  /** More of it, in Markdown. */
  readonly description?: string;
  /** Its group. Defaults to the first part of the path. */
  readonly tag?: string;
  /** Whether it is answered without a session. */
  readonly isOpen?: boolean;
  /** Whether a user who may send no more requests may still send this one. */
  readonly isFree?: boolean;
  /** The headers of a request that count, with what they say. They are read as HTTP defines them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Statuses of refusals beyond those that follow from the parts of the request. */
  readonly refusals?: readonly number[];
}

interface Declared<
  P extends z.ZodObject | undefined,
  Q extends z.ZodObject | undefined,
  B extends Body,
  A extends Answers,
> extends Description {
  /** The parts of the path that have names, each a string. */
  readonly path?: P;
  /** Parameters of the query. Unknown ones are ignored. */
  readonly query?: Q;
  readonly body?: B;
  /** The answers, by status. */
  readonly answers: A;
  /** Runs before anything of the request is read. A response ends it. */
  readonly before?: (c: InSession) => Promise<Response | undefined>;
  /** The value of the answer whose status comes first, or any response. */
  readonly handle: (
    c: InSession,
    input: Input<Read<P>, Read<Q>, Read<B>>,
  ) => Value<A> | Response | Promise<Value<A> | Response>;
}

/** A declared operation. */
export interface Operation extends Description {
  readonly path: z.ZodObject | undefined;
  readonly query: z.ZodObject | undefined;
  readonly body: Body;
  readonly answers: Answers;
  /** Answers a request to an address of this form. Throws BodyRefused with what is wrong. */
  readonly answer: (c: InSession, form: string) => Promise<Response>;
}

/** Declares an operation. */
export function declareOperation<
  A extends Answers,
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends Body = undefined,
>(declared: Declared<P, Q, B, A>): Operation {
  const { path, query, body, before, handle, ...rest } = declared;
  const [status = 200] = Object.keys(declared.answers).map(Number);
  const answer = async (c: InSession, form: string): Promise<Response> => {
    const refusal = await before?.(c);
    if (refusal !== undefined) return refusal;
    const request = c.req.raw;
    const input = {
      path: path && readPath(request, form, path),
      query: query && readQuery(request, query),
      body: await parseBody(request, body),
    };
    const said = await handle(c, input as Input<Read<P>, Read<Q>, Read<B>>);
    return said instanceof Response ? said : jsonAnswer(said, status);
  };
  return { ...rest, path, query, body, answer };
}

/** Whether an operation answers with events and nothing else, for as long as its client listens. */
export function isStream({ answers }: Pick<Operation, "answers">): boolean {
  return Object.values(answers).every(({ content }) => Object.keys(content).join() === EVENT_STREAM);
}

async function parseBody(request: Request, body: Body): Promise<unknown> {
  if (body === UPLOAD) {
    const pieces: Upload["pieces"] = (limits) => readUpload(request, limits);
    return { type: readDeclaredType(request), pieces };
  }
  return body instanceof z.ZodType ? readJson(request, body) : undefined;
}

type Method = "get" | "post" | "put" | "patch" | "delete";

/** The operations of one address. `otherwise` answers other methods, which are refused by default. */
type Operations = Partial<Readonly<Record<Method, Operation>>> & {
  readonly otherwise?: (c: InSession) => Response | Promise<Response>;
};

/** The operations of handlers that were mounted. Hono keeps the handlers, whatever they are mounted under. */
const MOUNTED = new WeakMap<object, Operation>();

/** The operation that a mounted handler answers for, if any. */
export function getOperation(handler: object): Operation | undefined {
  return MOUNTED.get(handler);
}

/** The operation that will answer a request, with the form of its address. Undefined if the request will be refused. */
export function operationFor(c: InSession): { readonly operation: Operation; readonly path: string } | undefined {
  for (const { handler, path } of matchedRoutes(c)) {
    const found = getOperation(handler);
    if (found !== undefined) return { operation: found, path: path.replace(/(?<=.)\/$/, "") };
  }
  return undefined;
}

/** Serves addresses in this order. A method that an address does not have is refused. `get` answers `HEAD` too. */
export function mountRoutes(addresses: Readonly<Record<string, Operations>>): Hono<ServeEnv> {
  const app = new Hono<ServeEnv>();
  for (const [form, { otherwise, ...operations }] of Object.entries(addresses)) {
    for (const [method, declared] of Object.entries(operations)) {
      const handler = (c: InSession): Promise<Response> => declared.answer(c, form);
      MOUNTED.set(handler, declared);
      app.on(method.toUpperCase(), form, handler);
    }
    const allowed = Object.keys(operations).map((method) => (method === "get" ? "GET, HEAD" : method.toUpperCase()));
    app.all(form, otherwise ?? (() => methodRefused(allowed.join(", "))));
  }
  return app;
}
