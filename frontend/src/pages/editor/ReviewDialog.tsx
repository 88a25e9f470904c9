import { useMutation, useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { useState } from "react";
import { saveTrial } from "@/api/editor";
import { type LoadedJob, saveJob } from "@/api/jobs";
import type { Job } from "@/api/schema.gen";
import { yamlQuery } from "@/api/yaml";
import { Button } from "@/components/Button";
import { ChangeList } from "@/components/ChangeList";
import { Diff } from "@/components/CodeEditor";
import { Dialog } from "@/components/Dialog";
import { Skeleton } from "@/components/Panel";
import { Segments } from "@/components/Segments";
import { useEditorT } from "@/i18n";
import { editedFrom } from "@/lib/jobdoc";
import { problemOf } from "@/lib/problem";
import { useSayer } from "@/lib/reason";
import { ConflictDialog } from "./ConflictDialog";
import { NextFire } from "./NextFire";

interface ReviewDialogProps {
  /** What the edit began with, and what came of it. */
  was: Job;
  doc: Job;
  /** Of an existing job: the ETag that it must still have. */
  etag: string | undefined;
  /** Begin with the two documents side by side. */
  sideBySide: boolean;
  onClose(): void;
  onSaved(job: string, version: number): void;
  /** The server found fields that are wrong. */
  onInvalid(error: unknown): void;
  /** Somebody else saved the job meanwhile: the edit goes on from what they saved, or from nothing. */
  onRebase(theirs: LoadedJob | undefined, doc: Job): void;
  /** What somebody else saved takes the place of the edit. */
  onTheirs(theirs: LoadedJob): void;
}

/** Shows what saving will change, by the server's own comparison, and saves. */
export function ReviewDialog({
  was,
  doc,
  etag,
  sideBySide,
  onClose,
  onSaved,
  onInvalid,
  onRebase,
  onTheirs,
}: ReviewDialogProps) {
  const t = useEditorT();
  const { say, sayError } = useSayer();
  const e = t.editor;
  const [note, setNote] = useState("");
  const [view, setView] = useState<"fields" | "yaml">(sideBySide ? "yaml" : "fields");
  const onRefused = (error: unknown) => {
    if (problemOf(error).code === "invalid") onInvalid(error);
  };
  const sent = editedFrom(was, doc);
  const check = useQuery(saveTrial(sent, etag, onRefused));
  const save = useMutation({
    mutationFn: () => saveJob(sent, { etag, note }),
    onSuccess: (saved) => onSaved(doc.job, saved.definition.version),
    onError: onRefused,
  });
  const trouble = save.error ?? check.error;
  const code = trouble ? problemOf(trouble).code : undefined;
  if (code === "precondition_failed" && etag !== undefined) {
    return (
      <ConflictDialog
        was={was}
        mine={doc}
        onClose={onClose}
        onTheirs={onTheirs}
        onChoose={(theirs, merged) => {
          save.reset();
          onRebase(theirs, merged);
        }}
      />
    );
  }
  const changes = check.data?.changes ?? [];
  return (
    <Dialog
      title={e.reviewTitle}
      open
      wide
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t.act.cancel}</Button>
          <Button look="primary" busy={save.isPending} disabled={!check.data} onClick={() => save.mutate()}>
            {check.data?.result === "created" ? e.create : e.saveAs(check.data?.definition.version ?? 0)}
          </Button>
        </>
      }
    >
      {trouble && code !== "invalid" && (
        <p className="ferr" role="alert">
          {sayError(trouble)}
        </p>
      )}
      {check.isPending && <Skeleton rows={4} />}
      {check.data?.warnings?.map((w) => (
        <p key={`${w.field} ${say(w.reason)}`} className="note warn" role="status">
          <TriangleAlert size={15} aria-hidden />
          <span>
            {w.field} {say(w.reason)}
          </span>
        </p>
      ))}
      {check.data?.result === "created" && <p>{e.created}</p>}
      {check.data?.result === "unchanged" && <p>{e.nothing}</p>}
      {changes.length > 0 && (
        <Segments
          label={e.reviewTitle}
          value={view}
          options={[
            { value: "fields", label: e.byField },
            { value: "yaml", label: e.sideBySide },
          ]}
          onChange={setView}
        />
      )}
      {changes.length > 0 &&
        (view === "fields" ? <ChangeList changes={changes} /> : <SideBySide was={was} is={doc} />)}
      {etag !== undefined && <NextFire before={was} after={doc} />}
      <label className="f">
        <span className="lab">{e.note}</span>
        <span className="inp">
          <input
            value={note}
            maxLength={500}
            onChange={(x) => setNote(x.target.value)}
            onKeyDown={(x) => {
              if (x.key === "Enter" && !x.nativeEvent.isComposing && check.data && !save.isPending)
                save.mutate();
            }}
          />
        </span>
      </label>
    </Dialog>
  );
}

/** Both documents as YAML, with what differs marked. */
function SideBySide({ was, is }: { was: Job; is: Job }) {
  const t = useEditorT();
  const { data } = useQuery({ ...yamlQuery([was, is]), gcTime: 0 });
  if (!data) return <Skeleton rows={6} />;
  const [before = "", after = ""] = data;
  return <Diff label={t.editor.sideBySide} language="yaml" before={before} after={after} />;
}
