import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import type { SubjectSummary } from '../../../../clients/typescript/generated/sessions.ts';
import { get } from '../data/http.ts';
import type { CursorPage } from '../data/types.ts';
import { t } from '../i18n/t.ts';

const MAX_SUGGESTED = 50;

type Props = { agentId: string; value: string; onChange: (subject: string) => void };

/** The latest subjects of an agent; undefined while they are loading. */
export function useSubjects(agentId: string) {
  return useQuery({
    queryKey: ['subjects', agentId],
    queryFn: ({ signal }) => get<CursorPage<SubjectSummary>>('v1/subjects', { agentId, limit: MAX_SUGGESTED }, signal),
  });
}

/** A subject of an agent: one of the latest, or any typed id. */
export function SubjectChoice({ agentId, value, onChange }: Props) {
  const id = useId();
  const subjects = useSubjects(agentId);
  return (
    <div className="filters">
      <input
        type="search"
        list={id}
        aria-label={t('Subject')}
        placeholder={t('Subject')}
        defaultValue={value}
        key={value}
        maxLength={256}
        onChange={(event) => {
          const next = event.target.value;
          // A choice from the list applies at once; a typed id after Enter.
          if (next === '' || (subjects.data?.data ?? []).some(({ subjectId }) => subjectId === next)) onChange(next);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onChange(event.currentTarget.value.trim());
        }}
      />
      <datalist id={id}>
        {(subjects.data?.data ?? []).map(({ subjectId }) => (
          <option key={subjectId} value={subjectId} />
        ))}
      </datalist>
    </div>
  );
}
