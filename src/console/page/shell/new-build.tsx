// Tests: test/console/shell.test.ts
import { useQuery } from '@tanstack/react-query';
import { buildUrl } from '../data/http.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';

const EVERY_MS = 300_000;
const NAME = 'capstan-build';

/** The build that the server has now; null if the answer is not the console's page. */
async function readBuild(signal: AbortSignal): Promise<string | null> {
  const response = await fetch(buildUrl('console/'), { signal, credentials: 'same-origin' });
  return new RegExp(`name="${NAME}" content="([0-9a-f]+)"`).exec(await response.text())?.[1] ?? null;
}

/** After an upgrade the files of this page are gone from the server. Reloading is offered, because drafts may be open. */
export function NewBuild() {
  const build = useQuery({
    queryKey: ['build'],
    queryFn: ({ signal }) => readBuild(signal),
    // The page comes from the server that it would ask.
    initialData: null,
    staleTime: EVERY_MS,
    refetchInterval: EVERY_MS,
  });
  const own = document.querySelector<HTMLMetaElement>(`meta[name="${NAME}"]`)?.content;
  if (build.data === null || build.data === own) return null;
  return (
    <div className="new-build" role="status">
      <p>{t('The server has a newer console.')}</p>
      <Button onClick={() => location.reload()}>{t('Reload')}</Button>
    </div>
  );
}
