// One copy of the code serves both kinds of modules, so that `instanceof Final` holds in each.
export * from "../dist/index.js";
