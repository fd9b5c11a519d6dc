/**
 * Names in attributes: bounded in number and in length, whatever servers and clients call things.
 * @module
 */

/** The attribute's value for names that are none of those known. */
export const OTHER = "_OTHER";

/** Most names of one namespace, and most namespaces. */
const MAX_NAMES = 200;
const MAX_NAMESPACES = 100;

/** Longest name, in UTF-16 units. MCP allows 128 characters. */
const MAX_LENGTH = 128;

const NAMESPACES = new Map<string, Set<string>>();

/**
 * Lets names of tools into attributes. Only what a server lists is let in, so that no client can make names up, and a
 * server only so many.
 */
export function admitTools(namespace: string, names: Iterable<string>): void {
  let admitted = NAMESPACES.get(namespace);
  if (admitted === undefined) {
    if (NAMESPACES.size >= MAX_NAMESPACES || !isPlain(namespace)) return;
    admitted = new Set();
    NAMESPACES.set(namespace, admitted);
  }
  for (const name of names) {
    if (admitted.size >= MAX_NAMES) return;
    if (isPlain(name)) admitted.add(name);
  }
}

/** The name of a tool in attributes. */
export function toolAttribute(namespace: string, name: string): string {
  return NAMESPACES.get(namespace)?.has(name) === true ? name : OTHER;
}

/** The attributes that name a tool: its own name, and the namespace of its source. Empty without a tool. */
export function toolAttributes(namespace: string, name: string | undefined): ToolAttributes {
  if (name === undefined) return {};
  const known = NAMESPACES.has(namespace) ? { "sluice.namespace": namespace } : {};
  return { ...known, "gen_ai.tool.name": toolAttribute(namespace, name) };
}

// oxlint-disable-next-line typescript/consistent-type-definitions -- an interface would be no record of attributes
type ToolAttributes = {
  readonly "gen_ai.tool.name"?: string;
  readonly "sluice.namespace"?: string;
};

/** Letters, digits and marks as they are usual in names: nothing that a log or a page could stumble over. */
function isPlain(name: string): boolean {
  return name.length <= MAX_LENGTH && /^[\w./:-]+$/.test(name);
}

/** Names that the host itself chose, such as that of a model: of these only the form is checked. */
export function plainName(name: string): string {
  return isPlain(name) ? name : OTHER;
}

/** MCP's methods, of all revisions. */
const METHODS: ReadonlySet<string> = new Set([
  "completion/complete",
  "elicitation/create",
  "initialize",
  "logging/setLevel",
  "ping",
  "prompts/get",
  "prompts/list",
  "resources/list",
  "resources/read",
  "resources/subscribe",
  "resources/templates/list",
  "resources/unsubscribe",
  "roots/list",
  "sampling/createMessage",
  "server/discover",
  "subscriptions/listen",
  "tasks/cancel",
  "tasks/get",
  "tasks/list",
  "tasks/result",
  "tasks/update",
  "tools/call",
  "tools/list",
]);

/** The name of a method in attributes. */
export function methodAttribute(method: string): string {
  return METHODS.has(method) ? method : OTHER;
}
