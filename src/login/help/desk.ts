import type { LiveLogin } from '../logins.ts';
import type { Logger } from '../../platform/log.ts';
import { LoginError } from '../login-error.ts';
import { Screen } from './screen.ts';
import type { Viewer } from './screen.ts';

/** Maximum number of concurrent viewers of one login. */
const MAX_VIEWERS = 3;

/** The screens of this process that have viewers. */
export class HelpDesk {
  readonly #log: Logger;
  readonly #screens = new Map<LiveLogin, Screen>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Shows the browser of a login until the returned function is called. Throws `rate_limited` or `challenge_expired`. */
  watch(live: LiveLogin, viewer: Viewer): () => void {
    const { context } = live.recorder;
    if (context === undefined) throw new LoginError('challenge_expired', 'The login has no page any more.');
    const screen = this.#screens.get(live) ?? new Screen(context, this.#log);
    if (screen.viewers >= MAX_VIEWERS) {
      throw new LoginError('rate_limited', `At most ${MAX_VIEWERS} people look at a login at a time.`);
    }
    this.#screens.set(live, screen);
    const end = screen.add(viewer);
    return () => {
      end();
      if (screen.viewers > 0 || this.#screens.get(live) !== screen) return;
      this.#screens.delete(live);
      void screen.close();
    };
  }

  /** The screen of a login that has a viewer. */
  find(live: LiveLogin): Screen | undefined {
    return this.#screens.get(live);
  }
}
