import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import type { AgentTag } from '../../../../clients/typescript/generated/agents.ts';
import { request } from '../data/http.ts';
import { listAll, queries } from '../data/queries.ts';
import { useDraft } from '../data/use-draft.ts';
import { t } from '../i18n/t.ts';
import { TextField } from '../parts/field.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';

const MAX_PAGES = 10;

function buildPath(agentId: string, name: string): string {
  return `v1/agents/${encodeURIComponent(agentId)}/tags/${encodeURIComponent(name)}`;
}

/** The tags of an agent; none while they are loading. */
export function useTags(agentId: string): readonly AgentTag[] {
  const { data } = useQuery({
    queryKey: ['tags', agentId],
    queryFn: ({ signal }) => listAll<AgentTag>(`v1/agents/${encodeURIComponent(agentId)}/tags`, MAX_PAGES, signal),
  });
  return data ?? [];
}

export async function deleteTag(agentId: string, name: string): Promise<void> {
  await request('DELETE', buildPath(agentId, name));
  await queries.invalidateQueries({ queryKey: ['tags', agentId] });
}

type ListProps = { tags: readonly AgentTag[]; onDelete: ((name: string) => void) | undefined };

/** The tags that point to one version. */
export function TagList({ tags, onDelete }: ListProps) {
  return tags.map(({ name }) => (
    <span key={name} className="tag tag-named">
      {name}
      {onDelete === undefined ? null : (
        <button
          type="button"
          className="tag-delete"
          aria-label={t('Delete the tag {name}', { name })}
          onClick={() => onDelete(name)}
        >
          <X size={12} aria-hidden="true" />
        </button>
      )}
    </span>
  ));
}

type FormProps = { agentId: string; version: number; onClose: () => void };

/** Creates a tag for a version, or moves one that exists. */
export function TagForm({ agentId, version, onClose }: FormProps) {
  const { draft, bind } = useDraft({ tagName: '' });
  const submit = async () => {
    await request('PUT', buildPath(agentId, draft.tagName.trim()), { body: { version } });
    await queries.invalidateQueries({ queryKey: ['tags', agentId] });
    onClose();
  };
  return (
    <FormDialog title={t('Tag version {n}', { n: version })} action={t('Save')} onSubmit={submit} onClose={onClose}>
      <TextField
        label={t('Tag')}
        help={t('Such as staging. Sessions can be started with it. A tag that exists moves to this version.')}
        name="tagName"
        required
        maxLength={64}
        autoFocus
        spellCheck={false}
        {...bind('tagName')}
      />
    </FormDialog>
  );
}
