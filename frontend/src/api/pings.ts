import { queryOptions } from "@tanstack/react-query";
import { always } from "@/lib/every";
import type { JobRef } from "@/lib/jobref";
import { api, dataOf } from "./client";

export const pingTokensKey = ({ group, name }: JobRef) => ["ping-tokens", group, name] as const;

/** The tokens by which programs report runs of a job, the newest first, without secrets. */
export function pingTokens(ref: JobRef) {
  return queryOptions({
    queryKey: pingTokensKey(ref),
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/jobs/{group}/{name}/ping-tokens", { signal, params: { path: ref } })),
    refetchInterval: always(5000),
  });
}

/** Creates a token; with rotate, the others end a week later. Its secret is in the answer alone. */
export function createPingToken(ref: JobRef, rotate: boolean) {
  return dataOf(
    api.POST("/api/v1/jobs/{group}/{name}/ping-tokens", { params: { path: ref }, body: { rotate } }),
  );
}

export async function revokePingToken(ref: JobRef, id: string): Promise<void> {
  await api.DELETE("/api/v1/jobs/{group}/{name}/ping-tokens/{ping_token}", {
    params: { path: { ...ref, ping_token: id } },
  });
}
