import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { jobQuery, refOf, saveJob } from "@/api/jobs";
import { problemOf } from "@/api/problem";
import type { Job } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { ChangeList } from "@/components/ChangeList";
import { Dialog } from "@/components/Dialog";
import { Skeleton } from "@/components/Panel";
import { useEditorT } from "./texts";

interface ReviewDialogProps {
  doc: Job;
  etag: string | undefined;
  onClose(): void;
  onSaved(job: string, version: number): void;
  /** The server found fields that are wrong. */
  onInvalid(error: unknown): void;
  onTheirs?(): void;
}

/** Shows what saving will change, by the server's own comparison, and saves. */
export function ReviewDialog({ doc, etag, onClose, onSaved, onInvalid, onTheirs }: ReviewDialogProps) {
  const t = useEditorT();
  const e = t.editor;
  const [note, setNote] = useState("");
  const [mine, setMine] = useState(etag);
  const check = useQuery({
    queryKey: ["editor", "review", doc, mine],
    queryFn: async () => {
      try {
        return await saveJob(doc, { etag: mine, dryRun: true });
      } catch (error) {
        if (problemOf(error).code === "invalid") onInvalid(error);
        throw error;
      }
    },
    retry: false,
    gcTime: 0,
  });
  const save = useMutation({
    mutationFn: () => saveJob(doc, { etag: mine, note }),
    onSuccess: (saved) => onSaved(doc.job, saved.definition.version),
    onError: (error) => {
      if (problemOf(error).code === "invalid") onInvalid(error);
    },
  });
  const trouble = save.error ?? check.error;
  const code = trouble ? problemOf(trouble).code : undefined;
  if (code === "precondition_failed" && mine !== undefined) {
    return (
      <Conflict
        job={doc.job}
        onClose={onClose}
        onTheirs={onTheirs}
        onMine={(next) => {
          save.reset();
          setMine(next);
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
          {problemOf(trouble).detail ?? t.error.codes[code ?? ""]}
        </p>
      )}
      {check.isPending && <Skeleton rows={4} />}
      {check.data?.result === "created" && <p>{e.created}</p>}
      {check.data?.result === "unchanged" && <p>{e.nothing}</p>}
      {changes.length > 0 && <ChangeList changes={changes} />}
      <label className="f">
        <span className="lab">{e.note}</span>
        <span className="inp">
          <input value={note} maxLength={500} onChange={(x) => setNote(x.target.value)} />
        </span>
      </label>
    </Dialog>
  );
}

interface ConflictProps {
  job: string;
  onClose(): void;
  onTheirs?(): void;
  onMine(etag: string): void;
}

/** Somebody saved the job while it was edited here: nothing is lost until one chooses. */
function Conflict({ job, onClose, onTheirs, onMine }: ConflictProps) {
  const t = useEditorT();
  const e = t.editor;
  const theirs = useQuery({
    ...jobQuery(refOf(job), 0, 0),
    queryKey: ["editor", "theirs", job],
    refetchInterval: false,
    gcTime: 0,
  }).data;
  const d = theirs?.item.definition;
  return (
    <Dialog
      title={e.conflict}
      hint={d && e.conflictHint(d.author || e.someone, d.version)}
      open
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t.act.cancel}</Button>
          <Button onClick={onTheirs}>{e.takeTheirs}</Button>
          <Button look="primary" disabled={!theirs} onClick={() => theirs && onMine(theirs.etag)}>
            {e.keepMine}
          </Button>
        </>
      }
    >
      {null}
    </Dialog>
  );
}
