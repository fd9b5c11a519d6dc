/**
 * Finding out who somebody is.
 * @module
 */
import { MAX_SCOPE_FIELD } from "../../artifacts/scope.js";
import { SluiceError } from "../../errors/error.js";
import { inTime } from "../http/in-time.js";
import type { ServeTerms } from "../terms.js";
import type { Identity } from "./session.js";

/** Milliseconds that a host's own authentication may take. */
const AUTHENTICATION = 30_000;

/**
 * Who sends a request, as the host says; null for nobody. Whoever is asked may fail, or hang: that is no reason to let anybody in.
 *
 * @throws SluiceError E_STORE_READ where it cannot be found out.
 */
export async function identityOf(
  request: Request,
  { authenticate }: Pick<ServeTerms, "authenticate">,
): Promise<Identity | null> {
  const asked = async (): Promise<Identity | null> => authenticate(request);
  try {
    const identity = await inTime(asked(), AUTHENTICATION, () => new Error("authenticate does not answer."));
    if (identity === null || isIdentity(identity)) return identity;
    throw new TypeError("authenticate must give an identity with a user_id of 1 to 1,024 characters, or null.");
  } catch (error) {
    const message = "Who you are cannot be found out at the moment: try again.";
    throw new SluiceError("E_STORE_READ", message, {}, { cause: error });
  }
}

function isIdentity({ user_id, tenant_id }: Identity): boolean {
  return isName(user_id) && user_id !== "" && ((tenant_id ?? null) === null || isName(tenant_id));
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value.length <= MAX_SCOPE_FIELD;
}
