/**
 * How long a test waits for what is certain to come, in milliseconds: longer than a shared machine takes,
 * however slow and busy it is. Only a test that fails waits for so long. There is no other limit: no test
 * states one of its own.
 */
export const patience = 300_000;
