import { queryOptions } from "@tanstack/react-query";
import { api, dataOf } from "./client";
import type { Can } from "./schema.gen";

export const meKey = ["me"] as const;

/** Who is signed in. It fails with unauthenticated when nobody is. */
export const meQuery = queryOptions({
  queryKey: meKey,
  queryFn: ({ signal }) => dataOf(api.GET("/api/v1/me", { signal })),
  staleTime: 60_000,
  retry: (failures, error) => failures < 3 && !("problem" in error),
});

export const waysQuery = queryOptions({
  queryKey: ["sign-in"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/v1/sign-in", { signal })),
});

export function signIn(user: string, password: string) {
  return dataOf(api.POST("/api/v1/sign-in", { body: { user, password } }));
}

export async function signOut(): Promise<void> {
  await api.POST("/api/v1/sign-out");
}

/** What the one-time link of an invitation is for. */
export function invitationQuery(invitation: string) {
  return queryOptions({
    queryKey: ["invitation", invitation],
    queryFn: () => dataOf(api.POST("/api/v1/invitations/read", { body: { invitation } })),
    retry: false,
    gcTime: 0,
  });
}

export function acceptInvitation(invitation: string, password: string, user?: string) {
  return dataOf(api.POST("/api/v1/invitations/accept", { body: { invitation, password, user } }));
}

export type Deed = keyof Can;

/** Whether a pattern covers a group: it is its name, or ends in "*" after the beginning of it. */
function covers(pattern: string, group: string): boolean {
  return pattern === group || (pattern.endsWith("*") && group.startsWith(pattern.slice(0, -1)));
}

/** Whether something may be done in a group; without one, whether anywhere. "*" asks for all groups. */
export function may(can: Can | undefined, deed: Deed, group?: string): boolean {
  const groups = can?.[deed] ?? [];
  return group === undefined ? groups.length > 0 : groups.some((pattern) => covers(pattern, group));
}
