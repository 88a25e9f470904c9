import { usePage } from "@/i18n";
import { editor as enEditor } from "@/i18n/en/editor";
import { policies as enPolicies } from "@/i18n/en/policies";
import { secrets as enSecrets } from "@/i18n/en/secrets";
import { editor as zhEditor } from "@/i18n/zh/editor";
import { policies as zhPolicies } from "@/i18n/zh/policies";
import { secrets as zhSecrets } from "@/i18n/zh/secrets";

const texts = {
  en: { editor: enEditor, policies: enPolicies, secrets: enSecrets },
  zh: { editor: zhEditor, policies: zhPolicies, secrets: zhSecrets },
};

/** The console's texts with those of the editor. */
export const useEditorT = () => usePage(texts);
