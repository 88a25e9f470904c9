import { useQueryClient } from "@tanstack/react-query";
import { useBlocker, useNavigate } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { refreshSaved } from "@/api/editor";
import { type LoadedJob, saveJob } from "@/api/jobs";
import type { Job } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { CodeEditor } from "@/components/CodeEditor";
import { Dialog } from "@/components/Dialog";
import { ReadOnly } from "@/components/ReadOnly";
import { Segments } from "@/components/Segments";
import { toast } from "@/components/Toasts";
import { useEditorT } from "@/i18n";
import {
  definitionOf,
  fromYaml,
  isJob,
  lineOfField,
  misshapen,
  rewriteYaml,
  YamlProblem,
} from "@/lib/jobdoc";
import { refOf } from "@/lib/jobref";
import { changedFields, touches } from "@/lib/merge";
import { fieldErrors, problemOf } from "@/lib/problem";
import { useSayer } from "@/lib/reason";
import { modifier, useKeys } from "@/shell/keys";
import { useMay } from "@/shell/may";
import { type Crumb, Page } from "@/shell/Page";
import { JobForm } from "./JobForm";
import { few, many, PreviewRail } from "./PreviewRail";
import { ReviewDialog } from "./ReviewDialog";
import { usePreview } from "./usePreview";
import "./editor.css";

const StepsGraph = lazy(() => import("./StepsGraph"));

interface EditorProps {
  initial: Job;
  /** Of an existing job: its present version, and the ETag that it must still have when it is saved. */
  version?: number;
  etag?: string;
  crumbs: Crumb[];
}

/** What an edit began with: of a new job, neither version nor ETag. */
interface Beginning {
  doc: Job;
  version?: number;
  etag?: string;
}

const beginningOf = ({ item, etag }: LoadedJob): Beginning => ({
  doc: definitionOf(item.definition),
  version: item.definition.version,
  etag,
});

/** Edits a job as a form or as YAML: the same document, so that nothing that only one of them shows is lost. */
export function Editor({ initial: first, version: firstVersion, etag: firstEtag, crumbs }: EditorProps) {
  const t = useEditorT();
  const { say } = useSayer();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [{ doc: initial, version, etag }, setBeginning] = useState<Beginning>({
    doc: first,
    version: firstVersion,
    etag: firstEtag,
  });
  const [doc, setDoc] = useState(initial);
  const [mode, setMode] = useState<"form" | "yaml">("form");
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<YamlProblem>();
  const [errors, setErrors] = useState<ReadonlyMap<string, string>>(new Map());
  const [line, setLine] = useState<number>();
  // All that is wrong is listed once somebody wants to save; before that each field says it.
  const [tried, setTried] = useState(false);
  // Once a job could not be saved, the first field that is wrong gets the focus.
  const refused = useRef(false);
  const [outdated, setOutdated] = useState(false);
  const judged = useRef<Job>(undefined);
  // The text now, for what is read of it meanwhile.
  const latest = useRef(text);
  const show = (next: string) => {
    latest.current = next;
    setText(next);
  };
  // What was typed as YAML is read a moment later; who asks for a review meanwhile waits for it.
  const reading = useRef(Promise.resolve());
  const [asked, setAsked] = useState<"fields" | "yaml">();
  const [reviewing, setReviewing] = useState<"fields" | "yaml">();
  const [more, setMore] = useState(false);
  const [openStep, setOpenStep] = useState<number>();
  const preview = usePreview(doc, more ? many : few);
  const saved = useRef(false);
  const changes = changedFields(initial, doc);
  const isNew = etag === undefined;
  const { group } = refOf(doc.job);
  const may = useMay();
  // The group of a new job may still be left to be said.
  const edits = group === "" ? may("edit") : may("edit", group);
  // Of a new job another group may still be named; of one that is there nothing can be changed.
  const locked = !isNew && !edits;
  // What is no YAML, or no schedule, cannot be saved; it is said where it stands.
  const unfit = problem !== undefined || preview.wrong.size > 0;
  const dirty = changes.length > 0 || problem !== undefined;

  const blocker = useBlocker({
    shouldBlockFn: () => dirty && !saved.current,
    enableBeforeUnload: () => dirty && !saved.current,
    withResolver: true,
  });
  const change = (next: Job) => {
    const changed = changedFields(doc, next);
    setDoc(next);
    // What was wrong with other fields still is.
    const left = [...errors].filter(([field]) => !changed.some((c) => touches(c, field)));
    setErrors(new Map(left));
    if (left.length === 0) setTried(false);
  };
  const toMode = async (next: "form" | "yaml") => {
    if (next === "yaml") show(await rewriteYaml(text, doc));
    else if (problem) return; // what cannot be read cannot be shown as a form
    setMode(next);
  };
  const read = async (next: string) => {
    try {
      const value = await fromYaml(next);
      const odd = misshapen(value);
      if (odd)
        throw new YamlProblem(t.editor.shapes[odd.wants](odd.field), await lineOfField(next, odd.field));
      if (latest.current !== next || !isJob(value)) return; // more has been typed since
      setProblem(undefined);
      change(value);
    } catch (e) {
      if (latest.current === next) setProblem(e instanceof YamlProblem ? e : new YamlProblem(String(e), 1));
    }
  };
  const changeText = (next: string) => {
    show(next);
    reading.current = read(next);
  };
  /** Reviews what is in the form, or in the text once that has been read. */
  const review = (view: "fields" | "yaml" = "fields") => void reading.current.then(() => setAsked(view));
  useEffect(() => {
    if (asked === undefined) return;
    setAsked(undefined);
    const missing = requiredFields(doc, t.editor.required);
    setTried(true);
    setErrors(missing);
    refused.current = missing.size > 0;
    if (missing.size === 0 && !unfit && (dirty || isNew) && edits) setReviewing(asked);
  }, [asked, doc, unfit, dirty, isNew, edits, t]);
  useKeys({ "mod+s": () => review() });

  /** The edit goes on from another beginning, or from the same, with another document. */
  const restart = (from: Beginning, next: Job) => {
    setOutdated(false);
    setTried(false);
    setBeginning(from);
    setDoc(next);
    setProblem(undefined);
    setErrors(new Map());
    if (mode === "yaml") void rewriteYaml(text, next).then(show);
  };
  const done = (job: string, next: number) => {
    saved.current = true;
    toast({ text: t.done.saved(job, next) });
    void refreshSaved(client, refOf(job));
    void navigate({ to: "/jobs/$group/$name", params: refOf(job) });
  };
  const goToLine = (field: string) => void lineOfField(text, field).then(setLine);
  /** Opens the fields of a step, or goes to it in the YAML. */
  const showStep = (name: string) => {
    const at = doc.steps?.findIndex((s) => s.step === name) ?? -1;
    if (at < 0) return;
    setOpenStep(at);
    if (mode === "yaml") goToLine(`steps[${at}].step`);
  };
  // Of several wrong fields the first is marked in the YAML.
  const [firstWrong] = errors.keys();
  useEffect(() => {
    if (mode !== "yaml" || firstWrong === undefined) setLine(undefined);
    else void lineOfField(latest.current, firstWrong).then(setLine);
  }, [mode, firstWrong]);
  useEffect(() => {
    const [first] = errors;
    if (refused.current && first !== undefined && mode === "form") goToField(...first);
    refused.current = false;
  }, [errors, mode]);
  /** What the server finds wrong with what was touched so far is said when a field is left. */
  const judge = async () => {
    if (locked || !dirty || group === "" || judged.current === doc) return;
    judged.current = doc;
    const found = await saveJob(doc, { etag, dryRun: true }).then(
      () => undefined,
      (error: unknown) => problemOf(error),
    );
    if (judged.current !== doc) return;
    setOutdated(found?.code === "precondition_failed" && !isNew);
    const wrong = found?.errors?.filter((e) => changes.some((c) => touches(c, e.field))) ?? [];
    if (wrong.length > 0) setErrors(new Map(wrong.map((e) => [e.field, say(e.reason)])));
  };
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
          {outdated && (
            <div className="note warn outdated" role="status">
              <TriangleAlert size={15} aria-hidden />
              <span>
                {t.editor.outdated}{" "}
                <button type="button" className="link" onClick={() => review()}>
                  {t.editor.seeBoth}
                </button>
              </span>
            </div>
          )}
          {tried && errors.size > 0 && (
            <ErrorSummary errors={errors} onField={mode === "yaml" ? goToLine : undefined} />
          )}
          {mode === "form" ? (
            <form onSubmit={(e) => e.preventDefault()} onBlur={() => void judge()}>
              <ReadOnly locked={locked}>
                <JobForm
                  doc={doc}
                  onChange={change}
                  errors={errors}
                  wrong={preview.wrong}
                  isNew={isNew}
                  openStep={openStep}
                  onOpenStep={setOpenStep}
                />
              </ReadOnly>
            </form>
          ) : (
            <>
              <CodeEditor
                label={t.editor.yaml}
                language="yaml"
                value={text}
                rows={30}
                badLine={problem?.line ?? line}
                onChange={locked ? undefined : changeText}
              />
              {problem && (
                <p className="ferr" role="alert">
                  {t.editor.onLine(problem.line)} {problem.message}
                </p>
              )}
            </>
          )}
        </div>
        <PreviewRail
          doc={doc}
          saved={isNew ? undefined : initial.schedule}
          preview={preview}
          more={more}
          onMore={() => setMore(true)}
          onChange={(schedule) => change({ ...doc, schedule })}
        >
          {doc.steps && (
            <Suspense>
              <StepsGraph
                doc={doc}
                errors={errors}
                chosen={openStep === undefined ? undefined : doc.steps[openStep]?.step}
                onChoose={showStep}
              />
            </Suspense>
          )}
        </PreviewRail>
      </div>
      <footer className="savebar">
        <span className="row g2 grow trunc" role="status">
          {dirty && <i className="changed" />}
          <b className="trunc">
            {locked ? t.editor.locked : dirty ? t.editor.changes(changes.length) : t.editor.noChanges}
          </b>
          <span className="mut trunc hide-s">{changes.slice(0, 5).join(", ")}</span>
        </span>
        <Button
          look="ghost"
          disabled={!dirty}
          onClick={() => restart({ doc: initial, version, etag }, initial)}
        >
          {t.editor.discard}
        </Button>
        {!isNew && (
          <Button className="hide-s" disabled={!dirty || unfit} onClick={() => review("yaml")}>
            {t.editor.reviewDiff}
          </Button>
        )}
        <Button
          look="primary"
          disabled={unfit || (!dirty && !isNew) || !edits}
          title={edits ? undefined : t.signIn.needs}
          onClick={() => review()}
        >
          {isNew ? t.editor.create : t.editor.saveAs((version ?? 0) + 1)}{" "}
          <kbd className="kbd inv hide-s">{modifier}S</kbd>
        </Button>
      </footer>
      {reviewing && (
        <ReviewDialog
          was={initial}
          doc={doc}
          etag={etag}
          sideBySide={reviewing === "yaml"}
          onClose={() => setReviewing(undefined)}
          onSaved={done}
          onRebase={(theirs, next) => restart(theirs ? beginningOf(theirs) : { doc: initial }, next)}
          onTheirs={(theirs) => {
            const from = beginningOf(theirs);
            setReviewing(undefined);
            restart(from, from.doc);
          }}
          onInvalid={(error) => {
            setReviewing(undefined);
            refused.current = true;
            setErrors(fieldErrors(error, say));
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
  const { handler, shell, command, http, script } = doc.task ?? {};
  if (shell !== undefined && shell.trim() === "") missing.set("task.shell", reason);
  if (handler !== undefined && handler === "") missing.set("task.handler", reason);
  if (command?.length === 0) missing.set("task.command", reason);
  if (http?.url === "") missing.set("task.http.url", reason);
  if (script && !script.source && !script.digest) missing.set("task.script.source", reason);
  doc.steps?.forEach((s, i) => {
    if (s.step === "") missing.set(`steps[${i}].step`, reason);
    if (s.call === "") missing.set(`steps[${i}].call`, reason);
    if (s.task?.handler === "") missing.set(`steps[${i}].task.handler`, reason);
    for (const kind of ["for", "until", "signal"] as const)
      if (s.wait?.[kind] === "") missing.set(`steps[${i}].wait.${kind}`, reason);
    if (s.wait?.runs?.job === "") missing.set(`steps[${i}].wait.runs.job`, reason);
  });
  doc.children?.forEach((c, i) => {
    if (c.job === "") missing.set(`children[${i}].job`, reason);
  });
  return missing;
}

/** Every field that is wrong, each with a way to it. */
function ErrorSummary({
  errors,
  onField = goToField,
}: {
  errors: ReadonlyMap<string, string>;
  onField?(field: string, reason: string): void;
}) {
  const t = useEditorT();
  return (
    <div className="incident errors" role="alert">
      <div>
        <b>{t.editor.fix}</b>
        <ul>
          {[...errors].map(([field, reason]) => (
            <li key={field}>
              <button type="button" className="link" onClick={() => onField(field, reason)}>
                <code className="mono">{field}</code>
              </button>{" "}
              {reason}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

/** Goes to the field of the form below which the reason stands. */
function goToField(_: string, reason: string): void {
  const note = [...document.querySelectorAll(".ferr")].find((p) => p.textContent?.endsWith(reason));
  const fold = note?.closest("details");
  if (fold) fold.open = true;
  const holder = note?.closest(".f, .cronfield, .fields");
  const field =
    holder?.querySelector<HTMLElement>("[aria-invalid=true]") ??
    holder?.querySelector<HTMLElement>("input, select, textarea");
  (field ?? note)?.scrollIntoView({ block: "center" });
  field?.focus();
}
