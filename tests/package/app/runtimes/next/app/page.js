/** A page that is made while Next.js builds, on the server. */
import { createElement } from "react";
import { smoke } from "../../smoke.js";

export const dynamic = "force-static";

// oxlint-disable-next-line import/no-default-export -- what Next.js renders
export default async function Page() {
  return createElement("output", null, JSON.stringify(await smoke()));
}
