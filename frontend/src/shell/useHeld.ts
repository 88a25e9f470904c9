import { useQuery } from "@tanstack/react-query";
import { holdQuery } from "@/api/cluster";
import { isHeldAt } from "@/lib/pause";

/** Tells of an instant whether its fires would be skipped because everything is paused. Whatever is foretold asks this. */
export function useHeld(): (at: string | number) => boolean {
  const hold = useQuery(holdQuery).data;
  return (at) => isHeldAt(hold, at);
}
