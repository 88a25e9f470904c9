/** Which calendar keeps a fire from running, of the reason that the server gives; undefined when it is none. */
export function calendarOf(reason: string | undefined): string | undefined {
  return /^calendar (.+?) (?:excludes it|does not include it)$/.exec(reason ?? "")?.[1];
}
