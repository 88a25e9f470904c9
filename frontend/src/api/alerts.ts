import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { every } from "@/lib/every";
import { isFailure } from "@/lib/status";
import { api, dataOf } from "./client";
import type { Alert, Channel, ChannelItem, Incident, Status } from "./schema.gen";

export const alertsKey = ["alerts"] as const;

export type IncidentState = "firing" | "acknowledged" | "snoozed" | "resolved";

/** What rules have found: the gravest first of what is not over, else the newest. */
export function incidentList(state: IncidentState) {
  return infiniteQueryOptions({
    queryKey: [...alertsKey, "incidents", state],
    queryFn: ({ pageParam, signal }) =>
      dataOf(
        api.GET("/api/v1/alerts/incidents", {
          signal,
          params: {
            query: {
              state,
              limit: 50,
              cursor: pageParam,
              ...(state !== "resolved" && { sort: "severity" as const }),
            },
          },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
    refetchInterval: every(5000),
  });
}

/** Nobody looks after them, or wants to hear of them later. */
export const firingIncidents = queryOptions({
  queryKey: [...alertsKey, "firing"],
  queryFn: ({ signal }) =>
    dataOf(
      api.GET("/api/v1/alerts/incidents", {
        signal,
        params: { query: { state: "firing", limit: 100, sort: "severity" } },
      }),
    ),
  refetchInterval: every(10_000),
  retry: false,
});

/** Those that are not over, whether somebody looks after them or not: the newest of each kind. */
export const unresolvedIncidents = queryOptions({
  queryKey: [...alertsKey, "unresolved"],
  queryFn: async ({ signal }) => {
    const of = (state: IncidentState) =>
      dataOf(api.GET("/api/v1/alerts/incidents", { signal, params: { query: { state, limit: 100 } } }));
    const all = await Promise.all([of("firing"), of("acknowledged"), of("snoozed")]);
    return all.flatMap((page) => page.items);
  },
  refetchInterval: every(5000),
});

/** The incidents about a failure of one of some jobs. */
export function incidentsOf(incidents: Incident[], jobs: string[]): Incident[] {
  return incidents.filter((i) =>
    i.jobs?.some((j) => jobs.includes(j.job) && j.status && isFailure(j.status as Status)),
  );
}

/** The job of an incident that went wrong last, and not well since. */
export function lastTrouble({ jobs = [] }: Incident) {
  return jobs
    .filter((j) => !j.over)
    .reduce<(typeof jobs)[0] | undefined>((last, j) => (last && last.at >= j.at ? last : j), undefined);
}

export function incidentQuery(incident: string) {
  return queryOptions({
    queryKey: [...alertsKey, "incident", incident],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/alerts/incidents/{incident}", { signal, params: { path: { incident } } })),
    refetchInterval: every(3000),
  });
}

export function answerIncident(incident: string, verb: "acknowledge" | "resolve", note: string) {
  const path = `/api/v1/alerts/incidents/{incident}/${verb}` as const;
  return dataOf(api.POST(path, { params: { path: { incident } }, body: { note: note || undefined } }));
}

/** Holds back what an incident has to say; "0s" ends that. */
export function snoozeIncident(incident: string, lasts: string, note: string) {
  return dataOf(
    api.POST("/api/v1/alerts/incidents/{incident}/snooze", {
      params: { path: { incident } },
      body: { for: lasts, note: note || undefined },
    }),
  );
}

export function silence(alert: string | undefined, job: string | undefined, lasts: string, reason: string) {
  return dataOf(
    api.POST("/api/v1/alerts/silences", {
      body: { alert: alert || undefined, job, for: lasts, reason: reason || undefined },
    }),
  );
}

export const rulesQuery = queryOptions({
  queryKey: [...alertsKey, "rules"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/v1/alerts/rules", { signal })),
});

export function putRule(rule: Alert, revision: number | undefined) {
  return dataOf(
    api.PUT("/api/v1/alerts/rules/{alert}", {
      params: { path: { alert: rule.alert }, header: matching(revision) },
      body: { ...rule, disabled: rule.disabled === true },
    }),
  );
}

/** What a rule would have found in the last seven days. Nothing is saved. */
export function tryRule(rule: Alert) {
  return dataOf(api.POST("/api/v1/alerts/try", { body: rule }));
}

export async function deleteRule(alert: string): Promise<void> {
  await api.DELETE("/api/v1/alerts/rules/{alert}", { params: { path: { alert } } });
}

export const channelsQuery = queryOptions({
  queryKey: [...alertsKey, "channels"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/v1/alerts/channels", { signal })),
  refetchInterval: every(15_000),
  retry: false,
});

/** Attempts in a row that fail before a channel is said not to deliver: one is tried again at once. */
const failingAttempts = 2;

/** The channels that are in use and to which messages do not get through. */
export function failingChannels(channels: readonly ChannelItem[]): ChannelItem[] {
  return channels.filter((c) => !c.definition.disabled && c.health.failures >= failingAttempts);
}

export async function putChannel(
  channel: Channel,
  revision: number | undefined,
  secrets: Record<string, string>,
): Promise<ChannelItem> {
  let saved = await dataOf(
    api.PUT("/api/v1/alerts/channels/{channel}", {
      params: { path: { channel: channel.channel }, header: matching(revision) },
      body: { ...channel, disabled: channel.disabled === true },
    }),
  );
  for (const [secret, value] of Object.entries(secrets)) {
    if (value === "" || !isSecret(secret)) continue;
    saved = await dataOf(
      api.PUT("/api/v1/alerts/channels/{channel}/secrets/{secret}", {
        params: { path: { channel: channel.channel, secret } },
        body: { value },
      }),
    );
  }
  return saved;
}

export async function deleteChannel(channel: string): Promise<void> {
  await api.DELETE("/api/v1/alerts/channels/{channel}", { params: { path: { channel } } });
}

export function testChannel(channel: string) {
  return dataOf(api.POST("/api/v1/alerts/channels/{channel}/test", { params: { path: { channel } } }));
}

/** All lists of messages to a channel. */
export const deliveriesKey = (channel: string) => [...alertsKey, "deliveries", channel];

/** So many messages to a channel are listed at most. */
export const mostDeliveries = 50;

/** The last messages to a channel in a range, those of the newest incident first. */
export function deliveriesQuery(channel: string, range: { from?: string; to?: string }) {
  return queryOptions({
    queryKey: [...deliveriesKey(channel), range],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/api/v1/alerts/deliveries", {
          signal,
          params: { query: { channel, ...range, limit: mostDeliveries } },
        }),
      ),
    placeholderData: keepPreviousData,
  });
}

export const silencesQuery = queryOptions({
  queryKey: [...alertsKey, "silences"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/v1/alerts/silences", { signal })),
});

export async function endSilence(id: string): Promise<void> {
  await api.DELETE("/api/v1/alerts/silences/{silence}", { params: { path: { silence: id } } });
}

const secrets = ["url", "secret", "password", "routing_key"] as const;
type Secret = (typeof secrets)[number];

function isSecret(name: string): name is Secret {
  return secrets.some((s) => s === name);
}

function matching(revision: number | undefined) {
  return revision === undefined ? { "If-None-Match": "*" } : { "If-Match": `"${revision}"` };
}
