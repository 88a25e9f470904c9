import type { HttpTask } from "@/api/schema.gen";
import { CodeEditor } from "@/components/CodeEditor";
import { Check, Choice, Pairs, TextField } from "@/components/fields";
import { useEditorT } from "@/i18n";
import { Fold, useSaid } from "../Fold";
import { without } from "../Section";
import { SecretsField } from "./SecretsField";
import type { TaskProps } from "./TaskFields";

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
const ways = ["none", "bearer", "basic"] as const;

/** A request, and which answers are a success. */
export function HttpFields(part: TaskProps) {
  const { task, errors, set } = part;
  const said = useSaid();
  const t = useEditorT();
  const e = t.editor.http;
  const http: HttpTask = task.http ?? { url: "" };
  const change = (next: Partial<HttpTask>) => {
    const merged = { ...http, ...next };
    set({ http: { ...without(merged), url: merged.url } });
  };
  const err = (field: string) => errors.get(`task.http.${field}`);
  const way = !http.auth ? "none" : http.auth.bearer !== undefined ? "bearer" : "basic";
  return (
    <>
      <div className="verb">
        <Choice
          label={e.method}
          value={http.method ?? "GET"}
          options={methods.map((m) => ({ value: m, label: m }))}
          onChange={(method) => change({ method })}
          error={err("method")}
        />
        <TextField
          label={e.url}
          mono
          value={http.url}
          placeholder="https://example.com/reports/${params.region}"
          hint={e.urlHint}
          error={err("url")}
          onChange={(url) => change({ url })}
        />
      </div>
      {http.method !== "GET" && http.method !== "HEAD" && http.method !== undefined && (
        <div className="f">
          <span className="lab">{e.body}</span>
          <CodeEditor
            label={e.body}
            language="json"
            rows={4}
            value={http.body ?? ""}
            onChange={(body) => change({ body })}
          />
          <p className={err("body") ? "ferr" : "hint"}>{err("body") ?? e.bodyHint}</p>
        </div>
      )}
      <Fold
        title={e.request}
        hint={e.requestHint}
        said={said({
          "task.http.headers": Object.keys(http.headers ?? {}).join(", "),
          "task.http.auth": way === "none" ? undefined : e.ways[way],
          "task.http.success": http.success?.join(" "),
          "task.secrets": Object.keys(task.secrets ?? {}).join(", "),
        })}
      >
        <div className="two">
          <Pairs
            label={e.headers}
            between=": "
            placeholder="X-Team: billing"
            hint={e.headersHint}
            value={http.headers}
            error={err("headers")}
            onChange={(headers) => change({ headers })}
          />
          <div className="f">
            <Choice
              label={e.auth}
              value={way}
              options={ways.map((w) => ({ value: w, label: e.ways[w] }))}
              onChange={(w) =>
                change({
                  auth:
                    w === "none"
                      ? undefined
                      : w === "bearer"
                        ? { bearer: "${TOKEN}" }
                        : { user: "", password: "${PASSWORD}" },
                })
              }
            />
            {way === "bearer" && (
              <TextField
                label={e.token}
                mono
                value={http.auth?.bearer ?? ""}
                hint={e.authHint}
                error={err("auth.bearer")}
                onChange={(bearer) => change({ auth: { bearer } })}
              />
            )}
            {way === "basic" && (
              <div className="two">
                <TextField
                  label={e.user}
                  mono
                  value={http.auth?.user ?? ""}
                  error={err("auth.user")}
                  onChange={(user) => change({ auth: { ...http.auth, user } })}
                />
                <TextField
                  label={e.password}
                  mono
                  value={http.auth?.password ?? ""}
                  error={err("auth.password")}
                  onChange={(password) => change({ auth: { ...http.auth, password } })}
                />
              </div>
            )}
          </div>
        </div>
        <div className="two">
          <TextField
            label={e.success}
            mono
            value={(http.success ?? []).join(" ")}
            placeholder="2xx"
            hint={e.successHint}
            error={err("success")}
            onChange={(text) => change({ success: text.split(/[\s,]+/).filter(Boolean) })}
          />
          <div className="f">
            <span className="lab">{e.redirects}</span>
            <Check
              label={e.follow}
              checked={http.follow_redirects ?? false}
              onChange={(on) => change({ follow_redirects: on || undefined })}
            />
          </div>
        </div>
        <SecretsField {...part} />
      </Fold>
    </>
  );
}
