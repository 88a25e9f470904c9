/** Where the console is; the API is beside it, below the same base path. */
export const base = new URL(".", document.baseURI).href.replace(/\/$/, "");
