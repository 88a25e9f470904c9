import { useQuery } from "@tanstack/react-query";
import { type Deed, may, meQuery } from "@/api/session";

/** Says what whoever is signed in may do. The server decides; this keeps from offering what it would refuse. */
export function useMay(): (deed: Deed, group?: string) => boolean {
  const can = useQuery(meQuery).data?.can;
  return (deed, group) => may(can, deed, group);
}
