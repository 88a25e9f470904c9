import { BellOff } from "lucide-react";
import { IconButton } from "@/components/Button";
import { Menu, MenuItem } from "@/components/Menu";
import { useT } from "@/i18n";
import { serverNow } from "@/lib/clock";
import { snooze } from "@/lib/snooze";

const hour = 3_600_000;

/** Leaves something that needs somebody out for a while, in this browser. */
export default function SnoozeMenu({ id, name }: { id: string; name: string }) {
  const t = useT();
  const words = t.overview.snoozeFor;
  return (
    <Menu trigger={<IconButton icon={BellOff} size={14} label={`${t.overview.snooze}: ${name}`} />}>
      <MenuItem onSelect={() => snooze(id, serverNow() + hour)}>{words.hour}</MenuItem>
      <MenuItem onSelect={() => snooze(id, serverNow() + 24 * hour)}>{words.day}</MenuItem>
      <MenuItem onSelect={() => snooze(id, "over")}>{words.over}</MenuItem>
    </Menu>
  );
}
