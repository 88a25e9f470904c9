import { Download } from "lucide-react";
import { usePageT } from "@/i18n";
import { Button } from "./Button";
import { Menu, MenuDownload } from "./Menu";

const formats = ["csv", "ndjson"] as const;

interface ExportMenuProps {
  /** What is saved: the name of the file, without its ending. */
  name: string;
  /** Where a format can be had. */
  href(format: (typeof formats)[number]): string;
}

/** Saves all that a list is narrowed to, in the format that one chooses. */
export function ExportMenu({ name, href }: ExportMenuProps) {
  const t = usePageT();
  return (
    <Menu
      trigger={
        <Button icon={Download} className="hide-s">
          {t.logs.export}
        </Button>
      }
    >
      {formats.map((format) => (
        <MenuDownload key={format} href={href(format)} name={`${name}.${format}`}>
          {format.toUpperCase()}
        </MenuDownload>
      ))}
    </Menu>
  );
}
