import { instantToWall, wallToInstant } from "@/lib/format";

/** What the field of an instant shows: the wall clock of a zone; empty for no instant. */
export const wallOf = (at: string | undefined, zone: string): string => (at ? instantToWall(at, zone) : "");

/** The instant of a wall clock, as documents write it; undefined for an empty field. */
export const instantOf = (wall: string, zone: string): string | undefined =>
  wall === "" ? undefined : new Date(wallToInstant(wall, zone)).toISOString();
