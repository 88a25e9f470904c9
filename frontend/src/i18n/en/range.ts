/** The names of ranges, for buttons. Ranges that end now are called by their length. */
export const rangeNames = {
  today: "Today",
  yesterday: "Yesterday",
  week: "This week",
  "last-week": "Last week",
  month: "This month",
  "last-month": "Last month",
  all: "All time",
};

export const range = {
  title: "Range",
  upToNow: "Up to now",
  days: "Whole days",
  own: "From – to",
  from: "From",
  to: "To",
  zone: "Time zone",
  zones: { browser: "browser", job: "job" },
  previous: "Previous month",
  next: "Next month",
  keys: "Arrows move by days and weeks, PageUp and PageDown by months; Enter chooses.",
  apply: "Apply",
  order: "The end must be after the beginning.",
  lasts: (time: string) => `${time} long`,
  kept: (date: string) => `History is kept since ${date}.`,
  problems: {
    range: (value: string, used: string) => `This page has no range "${value}". It shows: ${used}.`,
    from: (value: string, used: string) =>
      `"${value}" is no instant for "from": write it as 2026-11-12T02:00:00Z. The page shows: ${used}.`,
    to: (value: string, used: string) =>
      `"${value}" is no instant for "to": write it as 2026-11-12T04:00:00Z. The page shows: ${used}.`,
    zone: (value: string) => `There is no time zone "${value}". The days are those of your own zone.`,
    order: (used: string) => `"to" must be after "from". The page shows: ${used}.`,
    half: (used: string) => `A range needs both "from" and "to". The page shows: ${used}.`,
    kept: (since: string) => `History is kept since ${since}: the range begins there.`,
    gone: (since: string) => `History is kept since ${since}. All of this range is older.`,
    longest: (days: number, since: string) => `This page shows ${days} days at most: since ${since}.`,
  },
};
