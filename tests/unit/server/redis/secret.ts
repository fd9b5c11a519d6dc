/** What signs and seals in tests. */
export const SECRET = "a secret of more than thirty-two characters";
