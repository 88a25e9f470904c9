import { useQueryClient } from "@tanstack/react-query";
import { useBlocker, useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { jobsKey, refOf } from "@/api/jobs";
import { fieldErrors } from "@/api/problem";
import type { Job } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { CodeEditor } from "@/components/CodeEditor";
import { Dialog } from "@/components/Dialog";
import { ReadOnly } from "@/components/ReadOnly";
import { Segments } from "@/components/Segments";
import { toast } from "@/components/Toasts";
import { fromYaml, isJob, toYaml, YamlProblem } from "@/lib/jobdoc";
import { modifier, useKeys } from "@/shell/keys";
import { useMay } from "@/shell/may";
import { type Crumb, Page } from "@/shell/Page";
import { Basics } from "./Basics";
import { changedFields } from "./changes";
import { FollowSection } from "./FollowSection";
import { LimitsSection } from "./LimitsSection";
import { PreviewRail } from "./PreviewRail";
import { ReviewDialog } from "./ReviewDialog";
import { ScheduleSection } from "./ScheduleSection";
import { Trouble } from "./Trouble";
import { TaskSection } from "./task/TaskSection";
import { useEditorT } from "./texts";
import { WhereSection } from "./WhereSection";

interface EditorProps {
  initial: Job;
  /** Of an existing job: its present version, and the ETag that it must still have when it is saved. */
  version?: number;
  etag?: string;
  crumbs: Crumb[];
  /** Somebody else's version is to be loaded in the place of this edit. */
  onTheirs?(): void;
}

/** Edits a job as a form or as YAML: the same document, so that nothing that only one of them shows is lost. */
export function Editor({ initial, version, etag, crumbs, onTheirs }: EditorProps) {
  const t = useEditorT();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [doc, setDoc] = useState(initial);
  const [mode, setMode] = useState<"form" | "yaml">("form");
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<YamlProblem>();
  const [errors, setErrors] = useState<ReadonlyMap<string, string>>(new Map());
  const [reviewing, setReviewing] = useState(false);
  const saved = useRef(false);
  const changes = changedFields(initial, doc);
  const isNew = etag === undefined;
  const { group } = refOf(doc.job);
  const may = useMay();
  // The group of a new job may still be left to be said.
  const edits = group === "" ? may("edit") : may("edit", group);
  // Of a new job another group may still be named; of one that is there nothing can be changed.
  const locked = !isNew && !edits;
  const dirty = changes.length > 0 || problem !== undefined;

  const blocker = useBlocker({
    shouldBlockFn: () => dirty && !saved.current,
    enableBeforeUnload: () => dirty && !saved.current,
    withResolver: true,
  });
  const change = (next: Job) => {
    setDoc(next);
    setErrors(new Map());
  };
  const toMode = async (next: "form" | "yaml") => {
    if (next === "yaml") setText(await toYaml(doc));
    else if (problem) return; // what cannot be read cannot be shown as a form
    setMode(next);
  };
  const changeText = async (next: string) => {
    setText(next);
    try {
      const value = await fromYaml(next);
      if (!isJob(value)) throw new YamlProblem("job, task", 1);
      setProblem(undefined);
      change(value);
    } catch (e) {
      setProblem(e instanceof YamlProblem ? e : new YamlProblem(String(e), 1));
    }
  };
  const review = () => {
    const missing = requiredFields(doc, t.editor.required);
    setErrors(missing);
    if (missing.size === 0 && !problem && (dirty || isNew) && edits) setReviewing(true);
  };
  useKeys({ "mod+s": review });

  const discard = () => {
    setDoc(initial);
    setProblem(undefined);
    setErrors(new Map());
    if (mode === "yaml") void toYaml(initial).then(setText);
  };
  const done = (job: string, next: number) => {
    saved.current = true;
    toast({ text: t.done.saved(job, next) });
    client.removeQueries({ queryKey: [...jobsKey, "one", refOf(job).group, refOf(job).name] });
    void client.invalidateQueries({ queryKey: jobsKey });
    void navigate({ to: "/jobs/$group/$name", params: refOf(job) });
  };
  const section = { doc, onChange: change, errors };
  return (
    <Page
      crumbs={crumbs}
      fixed
      actions={
        <Segments
          label={`${t.editor.form} / ${t.editor.yaml}`}
          value={mode}
          options={[
            { value: "form", label: t.editor.form, disabled: problem !== undefined },
            { value: "yaml", label: t.editor.yaml },
          ]}
          onChange={(next) => void toMode(next)}
        />
      }
    >
      <div className="editor">
        <div className="editor-main">
          {errors.size > 0 && <ErrorSummary errors={errors} />}
          {mode === "form" ? (
            <form onSubmit={(e) => e.preventDefault()}>
              <ReadOnly locked={locked}>
                <Basics {...section} isNew={isNew} />
                <ScheduleSection {...section} />
                <TaskSection {...section} />
                <WhereSection {...section} />
                <Trouble {...section} />
                <LimitsSection {...section} />
                <FollowSection {...section} />
              </ReadOnly>
            </form>
          ) : (
            <>
              <CodeEditor
                label={t.editor.yaml}
                language="yaml"
                value={text}
                rows={30}
                badLine={problem?.line}
                onChange={locked ? undefined : (next) => void changeText(next)}
              />
              {problem && (
                <p className="ferr" role="alert">
                  {t.editor.badYaml(problem.line)}: {problem.message}
                </p>
              )}
            </>
          )}
        </div>
        <PreviewRail doc={doc} />
      </div>
      <footer className="savebar">
        <span className="row g2 grow trunc" role="status">
          {dirty && <i className="changed" />}
          <b>{locked ? t.editor.locked : dirty ? t.editor.changes(changes.length) : t.editor.noChanges}</b>
          <span className="mut trunc hide-s">{changes.slice(0, 5).join(", ")}</span>
        </span>
        <Button look="ghost" disabled={!dirty} onClick={discard}>
          {t.editor.discard}
        </Button>
        <Button
          look="primary"
          disabled={problem !== undefined || (!dirty && !isNew) || !edits}
          title={edits ? undefined : t.signIn.needs}
          onClick={review}
        >
          {isNew ? t.editor.create : t.editor.saveAs((version ?? 0) + 1)}{" "}
          <kbd className="kbd inv">{modifier}S</kbd>
        </Button>
      </footer>
      {reviewing && (
        <ReviewDialog
          doc={doc}
          etag={etag}
          onClose={() => setReviewing(false)}
          onSaved={done}
          onTheirs={onTheirs}
          onInvalid={(error) => {
            setReviewing(false);
            setErrors(fieldErrors(error));
          }}
        />
      )}
      <Dialog
        title={t.editor.leave}
        hint={t.editor.leaveHint}
        open={blocker.status === "blocked"}
        onClose={() => blocker.reset?.()}
        footer={
          <>
            <Button onClick={() => blocker.reset?.()}>{t.editor.stay}</Button>
            <Button look="danger-fill" onClick={() => blocker.proceed?.()}>
              {t.editor.leaveYes}
            </Button>
          </>
        }
      >
        {null}
      </Dialog>
    </Page>
  );
}

/** What the form can tell by itself. Everything else the server judges. */
function requiredFields(doc: Job, reason: string): ReadonlyMap<string, string> {
  const missing = new Map<string, string>();
  const { group, name } = refOf(doc.job);
  if (group === "" || name === "") missing.set("job", reason);
  const { handler, shell, command, http, script } = doc.task;
  if (shell !== undefined && shell.trim() === "") missing.set("task.shell", reason);
  if (handler !== undefined && handler === "") missing.set("task.handler", reason);
  if (command?.length === 0) missing.set("task.command", reason);
  if (http?.url === "") missing.set("task.http.url", reason);
  if (script && !script.source && !script.digest) missing.set("task.script.source", reason);
  doc.children?.forEach((c, i) => {
    if (c.job === "") missing.set(`children[${i}].job`, reason);
  });
  doc.join?.forEach((parent, i) => {
    if (parent === "") missing.set(`join[${i}]`, reason);
  });
  return missing;
}

function ErrorSummary({ errors }: { errors: ReadonlyMap<string, string> }) {
  const t = useEditorT();
  return (
    <div className="incident errors" role="alert">
      <div>
        <b>{t.editor.fix}</b>
        <ul>
          {[...errors].map(([field, reason]) => (
            <li key={field}>
              <code className="mono">{field}</code> {reason}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
