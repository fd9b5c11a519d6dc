/**
 * Plays a person with a browser, for those who only want to watch.
 * @module
 */

/**
 * Opens a page, fills in what is asked, and follows where it leads, to the end.
 *
 * @param {string} address
 * @param {{ login: string }} person
 */
export async function consent(address, { login }) {
  /** @type {Map<string, string>} */
  const cookies = new Map();
  /** @type {RequestInit} */
  let sent = {};
  for (let url = new URL(address), pages = 0; pages < 20; pages += 1) {
    const cookie = Array.from(cookies, ([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { ...sent, redirect: "manual", headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    const page = await response.text();
    const further = response.headers.get("location");
    sent = {};
    if (further !== null) url = new URL(further, url);
    else if (page.includes('value="login"')) sent = form({ prompt: "login", login, password: "any" });
    else if (page.includes('value="consent"')) sent = form({ prompt: "consent" });
    else return;
  }
}

/**
 * @param {Record<string, string>} fields
 * @returns {RequestInit}
 */
function form(fields) {
  return { method: "POST", body: new URLSearchParams(fields) };
}
