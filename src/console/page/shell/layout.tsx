import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { Ellipsis, Search } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { announcement } from '../data/announce.ts';
import { signedOut } from '../data/http.ts';
import { startLive } from '../data/live.ts';
import { queries, useCaller, usePendingActions } from '../data/queries.ts';
import { useStore } from '../data/store.ts';
import { useTitle } from '../data/use-title.ts';
import { t } from '../i18n/t.ts';
import { Boundary } from '../parts/boundary.tsx';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Skeleton } from '../parts/states.tsx';
import { NAVIGATION_ITEMS, listPlaces } from './navigation.ts';
import type { NavigationItem } from './navigation.ts';
import { NewBuild } from './new-build.tsx';
import { useKeys } from './shortcuts.ts';
import { SignIn, signOut } from './sign-in.tsx';

const Palette = lazy(() => import('./palette.tsx').then(({ Palette: Part }) => ({ default: Part })));
const Help = lazy(() => import('./help.tsx').then(({ Help: Part }) => ({ default: Part })));
const BAR = 3;

function usePendingCount(enabled: boolean): string {
  const actions = usePendingActions({ state: 'pending' }, enabled);
  const [first] = actions.data?.pages ?? [];
  if (first === undefined || first.data.length === 0) return '';
  return first.pagination.hasMore ? `${first.data.length}+` : String(first.data.length);
}

function NavLink({ place, count, onClick }: { place: NavigationItem; count?: string; onClick?: () => void }) {
  const { to, name, icon: Icon } = place;
  return (
    <Link to={to} className="nav-link" {...(onClick === undefined ? {} : { onClick })}>
      <Icon size={18} aria-hidden="true" />
      <span>{t(name)}</span>
      {count === undefined || count === '' ? null : (
        <span className="badge">
          {count}
          <span className="visually-hidden"> {t('waiting')}</span>
        </span>
      )}
    </Link>
  );
}

function More({ places, onClose }: { places: readonly NavigationItem[]; onClose: () => void }) {
  return (
    <Dialog title={t('More')} onClose={onClose} className="sheet">
      <nav aria-label={t('More pages')}>
        {places.map((place) => (
          <NavLink key={place.to} place={place} onClick={onClose} />
        ))}
        <button type="button" className="nav-link" onClick={() => void signOut().then(onClose)}>
          <span>{t('Sign out')}</span>
        </button>
      </nav>
    </Dialog>
  );
}

function useChords(places: readonly NavigationItem[], open: { palette: () => void; help: () => void }): void {
  const navigate = useNavigate();
  const chords = places.map(({ to, chord }) => [`g ${chord}`, () => void navigate({ to })] as const);
  useKeys({
    ...Object.fromEntries(chords),
    'mod+k': open.palette,
    '?': open.help,
    '/': () => document.querySelector<HTMLInputElement>('input[type="search"]')?.focus(),
  });
}

function useLive(isSignedIn: boolean): void {
  useEffect(() => (isSignedIn ? startLive(queries) : undefined), [isSignedIn]);
}

function Page() {
  const caller = useCaller();
  const isOut = useStore(signedOut);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  if (caller.data === undefined) {
    if (isOut) return null;
    return caller.error === null ? (
      <Skeleton />
    ) : (
      <ErrorNote error={caller.error} onRetry={() => void caller.refetch()} />
    );
  }
  return (
    <Boundary key={path}>
      <Suspense fallback={<Skeleton />}>
        <Outlet />
      </Suspense>
    </Boundary>
  );
}

/** The pages of one session and of one agent have titles of their own. */
function usePageTitle(): void {
  const route = useRouterState({ select: ({ matches }) => matches.at(-1)?.routeId ?? '' });
  const place = NAVIGATION_ITEMS.find(({ to }) => route === to || route.replace('/$eventId', '') === to);
  useTitle(place === undefined ? undefined : t(place.name));
}

/** The navigation around the page. The sign-in form covers it, so drafts stay. */
export function Layout() {
  const [overlay, setOverlay] = useState<'palette' | 'help' | 'more'>();
  const close = () => setOverlay(undefined);
  const caller = useCaller();
  const isOut = useStore(signedOut);
  const text = useStore(announcement);
  const isIn = caller.data !== undefined && !isOut;
  const places = isIn ? listPlaces(caller.data) : [];
  const count = usePendingCount(isIn && places.some(({ to }) => to === '/inbox'));
  useLive(isIn);
  usePageTitle();
  useChords(places, { palette: () => isIn && setOverlay('palette'), help: () => setOverlay('help') });
  return (
    <div className="shell">
      <a className="skip" href="#main" onClick={() => document.getElementById('main')?.focus()}>
        {t('Skip to the content')}
      </a>
      <aside className="side">
        <p className="brand">Capstan</p>
        {isIn ? (
          <Button kind="quiet" className="side-search" onClick={() => setOverlay('palette')} hint="Ctrl K">
            <Search size={16} aria-hidden="true" /> {t('Go to…')}
          </Button>
        ) : null}
        <nav aria-label={t('Pages')}>
          {places.map((place) => (
            <NavLink key={place.to} place={place} {...(place.to === '/inbox' ? { count } : {})} />
          ))}
        </nav>
        {isIn ? (
          <footer className="side-foot">
            <p className="meta">{caller.data.user?.name ?? caller.data.organization}</p>
            <Button kind="quiet" onClick={() => void signOut()}>
              {t('Sign out')}
            </Button>
          </footer>
        ) : null}
      </aside>
      <main id="main" tabIndex={-1}>
        {isIn ? <NewBuild /> : null}
        <Page />
      </main>
      <nav className="bar" aria-label={t('Main pages')}>
        {places.slice(0, BAR).map((place) => (
          <NavLink key={place.to} place={place} {...(place.to === '/inbox' ? { count } : {})} />
        ))}
        {isIn ? (
          <button type="button" className="nav-link" onClick={() => setOverlay('more')}>
            <Ellipsis size={18} aria-hidden="true" />
            <span>{t('More')}</span>
          </button>
        ) : null}
      </nav>
      <div className="visually-hidden" aria-live="polite">
        {text}
      </div>
      <Suspense fallback={null}>
        {overlay === 'palette' ? <Palette onClose={close} /> : null}
        {overlay === 'help' ? <Help onClose={close} /> : null}
      </Suspense>
      {overlay === 'more' ? <More places={places.slice(BAR)} onClose={close} /> : null}
      {isOut ? (
        <Dialog title={t('Sign in to Capstan')} className="sign-in-dialog">
          <SignIn />
        </Dialog>
      ) : null}
    </div>
  );
}
