// One copy of the code serves both kinds of modules, so that `instanceof Unavailable` holds in each.
export * from "../dist/client.js";
