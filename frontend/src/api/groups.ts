import { queryOptions } from "@tanstack/react-query";
import { api, dataOf } from "./client";

/** What an executor group has beside its instances: handlers that were announced, and secrets. */
const groupKey = (group: string) => ["group", group] as const;

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

export function putSecret(group: string, secret: string, value: string, description: string) {
  return dataOf(
    api.PUT("/api/v1/groups/{group}/secrets/{secret}", {
      params: { path: { group, secret } },
      body: { value, description: description || undefined },
    }),
  );
}

export async function deleteSecret(group: string, secret: string): Promise<void> {
  await api.DELETE("/api/v1/groups/{group}/secrets/{secret}", { params: { path: { group, secret } } });
}
