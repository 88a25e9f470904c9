import { Button } from "@/components/Button";
import { CopyButton } from "@/components/Copy";
import { Dialog } from "@/components/Dialog";
import { Ago } from "@/components/Time";
import { useSettingsT } from "./texts";

interface RevealProps {
  title: string;
  hint: string;
  secret: string;
  expires: string;
  onClose(): void;
}

/** A secret that is shown this once. */
export function Reveal({ title, hint, secret, expires, onClose }: RevealProps) {
  const t = useSettingsT();
  return (
    <Dialog
      title={title}
      hint={hint}
      open
      wide
      onClose={onClose}
      footer={
        <Button look="primary" onClick={onClose}>
          {t.settings.gotIt}
        </Button>
      }
    >
      <code className="reveal mono" tabIndex={0}>
        {secret}
      </code>
      <div className="row g3">
        <CopyButton text={secret} label={t.act.copy} />
        <span className="mut">
          {t.settings.expires} <Ago at={expires} />
        </span>
      </div>
    </Dialog>
  );
}
