import { queryOptions } from "@tanstack/react-query";
import { api, dataOf } from "./client";
import type { Group, GroupSettings, InstanceSettings } from "./schema.gen";

/** What an executor group has beside its instances: handlers that were announced, secrets, limits, and credentials. */
export const groupKey = (group: string) => ["group", group] as const;

export function handlersQuery(group: string) {
  return queryOptions({
    queryKey: [...groupKey(group), "handlers"],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/groups/{group}/handlers", { signal, params: { path: { group } } })),
    enabled: group !== "",
    staleTime: 5000,
    retry: false,
  });
}

export function secretsQuery(group: string) {
  return queryOptions({
    queryKey: secretsKey(group),
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/groups/{group}/secrets", { signal, params: { path: { group } } })),
    staleTime: 5000,
    retry: false,
  });
}

export const secretsKey = (group: string) => [...groupKey(group), "secrets"] as const;

/** Sets a secret. Without a description it keeps that of an existing one. */
export function putSecret(group: string, secret: string, value: string, description: string | undefined) {
  return dataOf(
    api.PUT("/api/v1/groups/{group}/secrets/{secret}", {
      params: { path: { group, secret } },
      body: { value, description },
    }),
  );
}

export async function deleteSecret(group: string, secret: string): Promise<void> {
  await api.DELETE("/api/v1/groups/{group}/secrets/{secret}", { params: { path: { group, secret } } });
}

/** What an operator tells an instance. */
export type InstanceOrder = "drain" | "cordon" | "uncordon";

/** Has an instance leave: when it has no runs, or after a time such as 30m at the latest. */
export function drainInstance(group: string, instance: string, within: string | undefined) {
  return dataOf(
    api.POST("/api/v1/groups/{group}/instances/{instance}/drain", {
      params: { path: { group, instance } },
      body: { within },
    }),
  );
}

export function orderInstance(group: string, instance: string, order: Exclude<InstanceOrder, "drain">) {
  const path = `/api/v1/groups/{group}/instances/{instance}/${order}` as const;
  return dataOf(api.POST(path, { params: { path: { group, instance } } }));
}

export function setInstance(group: string, instance: string, settings: InstanceSettings) {
  return dataOf(
    api.POST("/api/v1/groups/{group}/instances/{instance}/settings", {
      params: { path: { group, instance } },
      body: settings,
    }),
  );
}

/** How many runs of a group wait: by the history, or else by what its dispatcher has not taken yet. */
export const waitingOf = (group: Group): number => group.waiting_runs ?? group.waiting ?? 0;

/** Sets the limits of a group, where 0 is none, and which groups may start its jobs. */
export function putGroup(group: string, settings: GroupSettings) {
  return dataOf(api.PUT("/api/v1/groups/{group}", { params: { path: { group } }, body: settings }));
}

/** Turns the switch that pauses all jobs of a group; a pause may end by itself. */
export function pauseGroup(group: string, paused: boolean, note: string, until?: string) {
  return dataOf(
    api.PUT("/api/v1/groups/{group}/pause", { params: { path: { group } }, body: { paused, note, until } }),
  );
}

export const credentialsKey = (group: string) => [...groupKey(group), "credentials"] as const;

export function credentialsQuery(group: string) {
  return queryOptions({
    queryKey: credentialsKey(group),
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/groups/{group}/credentials", { signal, params: { path: { group } } })),
    retry: false,
  });
}

/** Makes a credential. Its seed is in the answer and nowhere else. */
export function createCredential(group: string, name: string, expires_in: string | undefined) {
  return dataOf(
    api.POST("/api/v1/groups/{group}/credentials", {
      params: { path: { group } },
      body: { name, expires_in },
    }),
  );
}

/** Makes another in the place of one, which works on for the overlap. */
export function rotateCredential(group: string, credential: string, overlap: string) {
  return dataOf(
    api.POST("/api/v1/groups/{group}/credentials/{credential}/rotate", {
      params: { path: { group, credential } },
      body: { overlap },
    }),
  );
}

export async function revokeCredential(group: string, credential: string): Promise<void> {
  await api.DELETE("/api/v1/groups/{group}/credentials/{credential}", {
    params: { path: { group, credential } },
  });
}
