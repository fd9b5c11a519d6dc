/**
 * Questions of a call as requests of MCP to the client of that call, and the client's answers ("Elicitation").
 * @module
 */
import { objectOr } from "../../jsonrpc/rpc.js";
import type { PausePayload } from "../../tools/context.js";

/** A question, as `askedBy` tells of it. */
export interface AskedPause {
  /** The id by which it is answered. */
  readonly pause: string;
  readonly payload: PausePayload;
}

/** Whether a client shows forms or pages to its person, according to its capabilities. */
export function showsQuestions(capabilities: unknown): boolean {
  return objectOr(capabilities)["elicitation"] !== undefined;
}

/** The request that asks a client. Undefined for what it does not show. */
export function toElicitation({ pause, payload }: AskedPause, capabilities: unknown): object | undefined {
  const elicitation = objectOr(objectOr(capabilities)["elicitation"]);
  // Until 2025-06-18 a client says nothing more, and shows forms.
  const showsForms = elicitation["form"] !== undefined || elicitation["url"] === undefined;
  const showsPages = elicitation["url"] !== undefined;
  switch (payload.pause_type) {
    case "elicitation": {
      const { message, schema } = payload;
      return showsForms ? createElicitation({ mode: "form", message, requestedSchema: schema }) : undefined;
    }
    case "url": {
      const { message, url } = payload;
      return showsPages ? createElicitation({ mode: "url", message, url, elicitationId: pause }) : undefined;
    }
    case "oauth": {
      const { display_name, auth_url: url } = payload;
      const message = `${display_name} asks you to give access. Open the page, and come back.`;
      return showsPages ? createElicitation({ mode: "url", message, url, elicitationId: pause }) : undefined;
    }
    default:
      return undefined;
  }
}

function createElicitation(params: object): object {
  return { method: "elicitation/create", params };
}

/**
 * What the call is told: the fields of a form, null for no. Undefined if something else tells it: consent comes from the
 * provider, after the person has opened its page.
 */
export function readAnswer({ payload }: AskedPause, result: unknown): unknown {
  const { action, content } = objectOr(result);
  if (action !== "accept") return null;
  if (payload.pause_type === "oauth") return undefined;
  return payload.pause_type === "elicitation" ? objectOr(content) : true;
}
