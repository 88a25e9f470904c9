// Registers itself with cronstrue; it has no types of its own.
declare module "cronstrue/locales/zh_CN";
