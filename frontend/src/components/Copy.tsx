import { Check, Copy as CopyIcon } from "lucide-react";
import { useState } from "react";
import { useT } from "@/i18n";
import { Button, IconButton } from "./Button";

/** Puts text on the clipboard, also where the clipboard API is missing: on plain HTTP other than localhost. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "sr";
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

function useCopied(text: string): [boolean, () => void] {
  const [copied, setCopied] = useState(false);
  const copy = () => {
    void copyText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    });
  };
  return [copied, copy];
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  const t = useT();
  const [copied, copy] = useCopied(text);
  return (
    <Button icon={copied ? Check : CopyIcon} look="ghost" onClick={copy}>
      {copied ? t.act.copied : label}
    </Button>
  );
}

export function CopyIconButton({ text, label }: { text: string; label?: string }) {
  const t = useT();
  const [copied, copy] = useCopied(text);
  return (
    <IconButton
      icon={copied ? Check : CopyIcon}
      size={14}
      label={copied ? t.act.copied : (label ?? t.act.copy)}
      onClick={copy}
    />
  );
}
