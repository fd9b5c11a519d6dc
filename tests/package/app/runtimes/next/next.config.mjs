// The app and Next.js itself are in different folders: nothing nearer holds both.
// oxlint-disable-next-line import/no-default-export -- what Next.js reads
export default { turbopack: { root: "/" } };
