import { useQuery } from "@tanstack/react-query";
import { Bookmark, BookmarkPlus, BookmarkX } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { meQuery } from "@/api/session";
import { Menu, MenuChoice, MenuItem, MenuLine } from "@/components/Menu";
import { toast } from "@/components/Toasts";
import { usePageT } from "@/i18n";
import { removeView, type SavedView, saveView, useViews, type ViewedPage } from "@/lib/views";

const SaveViewDialog = lazy(() => import("./SaveViewDialog"));

/** The views that whoever is signed in has of a page. */
export function useMyViews(page: ViewedPage): SavedView[] {
  return useViews(useUser(), page);
}

function useUser(): string {
  return useQuery(meQuery).data?.user ?? "";
}

interface SavedViewsProps {
  page: ViewedPage;
  /** The filters that are set, as the address has them; empty is none. */
  query: string;
  onOpen(query: string): void;
}

/** A menu of the sets of filters that one has saved, and of what can be done with those that are set. */
export function SavedViews({ page, query, onOpen }: SavedViewsProps) {
  const t = usePageT();
  const user = useUser();
  const views = useViews(user, page);
  const [saving, setSaving] = useState(false);
  const here = views.find((v) => v.query === query);
  const forget = (view: SavedView) => {
    removeView(user, page, view.name);
    toast({
      text: t.views.removed(view.name),
      action: { label: t.act.undo, run: () => saveView(user, page, view) },
    });
  };
  return (
    <>
      <Menu
        align="start"
        trigger={
          <button type="button" className={here ? "fchip set" : "fchip"}>
            <Bookmark size={14} aria-hidden />
            {t.views.title}
            {here && <b>{here.name}</b>}
          </button>
        }
      >
        {views.map((v) => (
          <MenuChoice key={v.name} on={v.query === query} onSelect={() => onOpen(v.query)}>
            {v.name}
          </MenuChoice>
        ))}
        {views.length > 0 && <MenuLine />}
        {here ? (
          <MenuItem icon={BookmarkX} onSelect={() => forget(here)}>
            {t.views.remove(here.name)}
          </MenuItem>
        ) : query === "" ? (
          <p className="mi mut">{t.views.nothing}</p>
        ) : (
          <MenuItem icon={BookmarkPlus} onSelect={() => setSaving(true)}>
            {t.views.save}
          </MenuItem>
        )}
      </Menu>
      {saving && (
        <Suspense>
          <SaveViewDialog {...{ user, page, query }} onClose={() => setSaving(false)} />
        </Suspense>
      )}
    </>
  );
}
