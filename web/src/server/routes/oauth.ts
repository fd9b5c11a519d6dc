/**
 * `GET /oauth/callback`: where providers send people back.
 * @module
 */
import { Hono, type MiddlewareHandler } from "hono";
import { methodRefused } from "../refusals.js";
import { inSession } from "../sessions/entering.js";
import { consented } from "../sources/consent.js";
import { messagePage, type Message } from "../message-page.js";
import type { ServeEnv, ServeTerms } from "../terms.js";

/** A page for the person, who is known by the session's cookie. */
export function oauthRoutes(terms: ServeTerms): Hono<ServeEnv> {
  return (
    new Hono<ServeEnv>()
      // To look, as HEAD does, is not to answer: each request is answered once.
      .use("/callback", (c, next) => (c.req.raw.method === "GET" ? next() : Promise.resolve(methodRefused("GET"))))
      .use("/callback", asPage)
      .use("/callback", inSession(terms))
      .get("/callback", async (c) => messagePage(await consented(new URL(c.req.url), c.get("session"), terms)))
  );
}

/** Says in words what is refused before the answer is looked at. */
const asPage: MiddlewareHandler<ServeEnv> = async (c, next) => {
  await next();
  const { status } = c.res;
  if (!/^application\/json\b/.test(c.res.headers.get("content-type") ?? "")) return;
  const { error } = (await c.res.json()) as { readonly error: { readonly message: string } };
  const page = messagePage(status === 401 ? SIGNED_OUT : { status, title: SIGNED_OUT.title, text: error.message });
  // Set anew it would be given the headers of before once more.
  c.res = undefined;
  c.res = page;
};

const SIGNED_OUT: Message = {
  status: 401,
  title: "Access was not given",
  text: "There is no session here, or it is over: ask again where you are signed in. This window may be closed.",
};
