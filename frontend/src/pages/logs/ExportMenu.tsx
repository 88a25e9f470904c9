import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import type { LogFilter } from "@/api/logs";
import { Button } from "@/components/Button";
import { Menu, MenuItem } from "@/components/Menu";
import { toast } from "@/components/Toasts";
import { usePageT } from "@/i18n";
import { useFormat } from "@/lib/format";
import { useComplain } from "@/shell/actions";
import { exportLines, formats, type LogFormat } from "./exporting";

/** Saves the lines that a search finds, in the form that one chooses. */
export function ExportMenu({ filter }: { filter: LogFilter }) {
  const t = usePageT();
  const f = useFormat();
  const complain = useComplain();
  const save = useMutation({
    mutationFn: (format: LogFormat) => exportLines(filter, format),
    onError: complain,
    onSuccess: ({ lines, more }) =>
      toast({ text: t.logs.saved(f.number(lines)), detail: more ? t.logs.savedSome : undefined }),
  });
  return (
    <Menu
      trigger={
        <Button icon={Download} busy={save.isPending} className="hide-s">
          {t.logs.export}
        </Button>
      }
    >
      {formats.map((format) => (
        <MenuItem key={format} onSelect={() => save.mutate(format)}>
          {t.logs.formats[format]}
        </MenuItem>
      ))}
    </Menu>
  );
}
