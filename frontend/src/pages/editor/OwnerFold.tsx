import { TextField } from "@/components/fields";
import { useEditorT } from "@/i18n";
import { Fold, useSaid } from "./Fold";
import { type SectionProps, without } from "./Section";

/** Tags as a document has them, of what was typed. */
function tidy(typed: string[]): string[] {
  return [...new Set(typed.filter((tag) => tag !== ""))];
}

/** Who is responsible for the job, and by which tags it is found. */
export function OwnerFold({ doc, onChange, errors }: SectionProps) {
  const e = useEditorT().editor;
  const said = useSaid();
  const tags = doc.tags ?? [];
  return (
    <Fold
      title={e.ownership}
      hint={e.ownershipHint}
      said={said({ owner: doc.owner, tags: tidy(tags).join(", ") })}
    >
      <div className="two">
        <TextField
          label={e.owner}
          value={doc.owner ?? ""}
          hint={e.ownerHint}
          error={errors.get("owner")}
          onChange={(v) => onChange(without({ ...doc, owner: v }))}
        />
        <TextField
          label={e.tags}
          value={tags.join(" ")}
          hint={e.tagsHint}
          error={errors.get("tags")}
          onChange={(v) => onChange(without({ ...doc, tags: v === "" ? [] : v.split(/[ ,]/) }))}
          onBlur={() => onChange(without({ ...doc, tags: tidy(tags) }))}
        />
      </div>
    </Fold>
  );
}
