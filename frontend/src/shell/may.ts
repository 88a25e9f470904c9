import { useQuery } from "@tanstack/react-query";
import { type Deed, may, meQuery } from "@/api/session";
import { kiosk } from "@/lib/kiosk";

/** What changes something, which nobody does who passes by a screen on the wall. */
const changes: readonly Deed[] = ["operate", "edit", "admin"];

/** Says what whoever is signed in may do. The server decides; this keeps from offering what it would refuse. */
export function useMay(): (deed: Deed, group?: string) => boolean {
  const can = useQuery(meQuery).data?.can;
  return (deed, group) => !(kiosk && changes.includes(deed)) && may(can, deed, group);
}
