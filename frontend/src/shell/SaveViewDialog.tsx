import { useState } from "react";
import { FormDialog } from "@/components/FormDialog";
import { TextField } from "@/components/fields";
import { toast } from "@/components/Toasts";
import { usePageT } from "@/i18n";
import { saveView, type ViewedPage } from "@/lib/views";

interface SaveViewDialogProps {
  user: string;
  page: ViewedPage;
  query: string;
  onClose(): void;
}

/** Asks for the name of a set of filters. */
export default function SaveViewDialog({ user, page, query, onClose }: SaveViewDialogProps) {
  const t = usePageT();
  const [name, setName] = useState("");
  const save = () => {
    saveView(user, page, { name: name.trim(), query });
    toast({ text: t.views.saved(name.trim()) });
    onClose();
  };
  return (
    <FormDialog
      title={t.views.saveTitle}
      hint={t.views.saveHint}
      verb={t.views.saveVerb}
      busy={false}
      disabled={name.trim() === ""}
      onSubmit={save}
      onClose={onClose}
    >
      <TextField label={t.views.name} value={name} maxLength={40} onChange={setName} />
      <p className="mut mono trunc">{query}</p>
    </FormDialog>
  );
}
