import type { Access } from "@/api/schema.gen";
import { usePageT } from "@/i18n";

/** Roles with where they hold, as tags. Grants are named where they are not those of the role. */
export function AccessTags({ access }: { access: Access[] }) {
  const t = usePageT();
  if (access.length === 0) return <span className="mut">{t.settings.nothing}</span>;
  return (
    <span className="row g1 wrap tags">
      {access.map((a) => (
        <span
          key={`${a.role} ${a.group}`}
          className="tag"
          title={a.grants?.map((g) => t.settings.grants[g]).join(", ")}
        >
          {t.signIn.roles[a.role]}
          <span className="mut"> · {a.group === "*" ? t.settings.everywhere : a.group}</span>
        </span>
      ))}
    </span>
  );
}
