import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { base } from "@/lib/base";
import { always } from "@/lib/every";
import { same } from "@/lib/merge";
import { api, dataOf } from "./client";
import type { AuditEntry, TokenRequest, UserEdit } from "./schema.gen";

export interface AuditFilter {
  user?: string;
  operation?: string;
  object?: string;
  job?: string;
  group?: string;
  from?: string;
}

/** Who changed what, the newest first. */
export function auditList(filter: AuditFilter) {
  return infiniteQueryOptions({
    queryKey: ["audit", filter],
    queryFn: ({ pageParam, signal }) =>
      dataOf(
        api.GET("/api/v1/audit-log", {
          signal,
          params: { query: { ...filter, limit: 100, cursor: pageParam } },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
  });
}

/** The most changes of an object that are read, and the most pages. */
const mostChanges = 100;
const mostPages = 3;

/** Who changed any of some objects since an instant: the newest changes of each. */
export function changesOf(objects: string[], from: string) {
  return queryOptions({
    queryKey: ["audit", "changes", objects, from],
    queryFn: async ({ signal }) => {
      const changes = async (object: string) => {
        const found: AuditEntry[] = [];
        let cursor: string | undefined;
        let pages = 0;
        do {
          const query = { object, from, limit: mostChanges, cursor };
          const page = await dataOf(api.GET("/api/v1/audit-log", { signal, params: { query } }));
          // The filter also finds other objects whose names contain this one.
          found.push(...page.items.filter((e) => e.object === object));
          cursor = page.next;
          pages++;
        } while (cursor && found.length < mostChanges && pages < mostPages);
        return found;
      };
      return (await Promise.all(objects.map(changes))).flat();
    },
    // Those of another job's group and calendars are not those of this one.
    placeholderData: (was, q) => (same(q?.queryKey[2], objects) ? was : undefined),
    refetchInterval: always(60_000),
    retry: false,
  });
}

/** Where all entries that match can be had as a file. */
export function auditExport(filter: AuditFilter, format: "csv" | "ndjson"): string {
  const set = Object.entries({ ...filter, format }).filter((e): e is [string, string] => Boolean(e[1]));
  return `${base}/api/v1/audit-log/export?${new URLSearchParams(set)}`;
}

export const usersKey = ["users"] as const;

export const usersQuery = queryOptions({
  queryKey: usersKey,
  queryFn: ({ signal }) => dataOf(api.GET("/api/v1/users", { signal })),
});

/** Saves a user as it was read, or one that must not exist yet. */
export function putUser(user: string, edit: UserEdit, revision: number | undefined) {
  return dataOf(
    api.PUT("/api/v1/users/{user}", {
      params: {
        path: { user },
        header: revision === undefined ? { "If-None-Match": "*" } : { "If-Match": `"${revision}"` },
      },
      body: edit,
    }),
  );
}

export async function deleteUser(user: string): Promise<void> {
  await api.DELETE("/api/v1/users/{user}", { params: { path: { user } } });
}

export function inviteUser(user: string) {
  return dataOf(api.POST("/api/v1/users/{user}/invite", { params: { path: { user } } }));
}

export async function endSessionsOf(user: string): Promise<void> {
  await api.DELETE("/api/v1/users/{user}/sessions", { params: { path: { user } } });
}

export const tokensKey = ["tokens"] as const;

/** One's own tokens, or with everybody those of all. */
export function tokensQuery(everybody: boolean) {
  return queryOptions({
    queryKey: [...tokensKey, everybody],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/tokens", { signal, params: { query: everybody ? { user: "*" } : {} } })),
  });
}

export function createToken(body: TokenRequest) {
  return dataOf(api.POST("/api/v1/tokens", { body }));
}

export async function revokeToken(token: string): Promise<void> {
  await api.DELETE("/api/v1/tokens/{token}", { params: { path: { token } } });
}

export const sessionsQuery = queryOptions({
  queryKey: ["me", "sessions"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/v1/me/sessions", { signal })),
});

/** Where a user is signed in, for administrators. */
export function sessionsOf(user: string) {
  return queryOptions({
    queryKey: [...usersKey, user, "sessions"],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/users/{user}/sessions", { signal, params: { path: { user } } })),
  });
}

export async function endSession(session: string): Promise<void> {
  await api.DELETE("/api/v1/me/sessions/{session}", { params: { path: { session } } });
}

export function setPassword(current: string, password: string) {
  return dataOf(api.PUT("/api/v1/me/password", { body: { current, password } }));
}
